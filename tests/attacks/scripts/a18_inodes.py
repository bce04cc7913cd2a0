import os
for d in ("/out", "/tmp", "/dev/shm"):
    n = 0
    try:
        os.mkdir(d + "/i")
        for n in range(100000): os.close(os.open(d + "/i/%d" % n, os.O_CREAT | os.O_WRONLY))
        print("ATTACK inodes", d, "made", n + 1)
    except OSError as e: print("ATTACK inodes", d, "BLOCKED after", n, e.strerror)
