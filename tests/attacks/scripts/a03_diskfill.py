import os
for d in ("/out", "/tmp", "/dev/shm", "/dev", "/", "/var/tmp"):
    n = 0; p = os.path.join(d, "fill.%d" % os.getpid())
    try:
        with open(p, "wb", buffering=0) as f:
            while n < 200: f.write(b"\1" * (1 << 20)); n += 1     # at most 200 MiB each
        print("ATTACK diskfill", d, "wrote", n, "MiB")
    except OSError as e: print("ATTACK diskfill", d, "BLOCKED after", n, "MiB", e.strerror)
    try: os.unlink(p)
    except OSError: pass
