import os
f = os.open("/out/sparse.bin", os.O_CREAT | os.O_RDWR)
for s in (1 << 40, 1 << 35, 100 << 20):
    try: os.ftruncate(f, s); print("ATTACK sparse: apparent", os.fstat(f).st_size, "blocks", os.fstat(f).st_blocks); break
    except OSError as e: print("ATTACK sparse", s, "BLOCKED", e.strerror)
