import os
for p in ("/work/x", "/usr/x", "/usr/lib/python3/dist-packages/x.py", "/etc/x", "/x", "/dev/x", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/tmp/../etc/ld.so.preload", "/sys/x", "/out/../x"):
    try: fd = os.open(p, os.O_WRONLY | (0 if p.startswith("/proc") else os.O_CREAT), 0o600); os.close(fd); print("ATTACK write", p, "OPENED")
    except OSError as e: print("ATTACK write", p, "BLOCKED", e.strerror)
