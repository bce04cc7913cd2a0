n = 0                                       # many files each below RLIMIT_FSIZE
try:
    for i in range(60):
        with open("/out/f%d" % i, "wb", buffering=0) as f:
            for _ in range(8): f.write(b"\1" * (1 << 20)); n += 1
    print("ATTACK manyfiles: wrote", n, "MiB")
except OSError as e: print("ATTACK manyfiles: BLOCKED after", n, "MiB", e.strerror)
