import os, time                             # setsid double fork; lives at most 15 s, touching a file each 0.2 s
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    for fd in range(3):
        try: os.close(fd)
        except OSError: pass
    for i in range(75):
        try: open("/out/daemon.txt", "w").write(str(i))
        except OSError: pass
        time.sleep(.2)
    os._exit(0)
time.sleep(.3); print("ATTACK daemon: parent exits, daemon left")
