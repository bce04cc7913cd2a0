import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True); os.makedirs("/tmp/m", exist_ok=True)
own = open("/proc/1/comm").read().strip() in ("bwrap", "python3") and os.getpid() < 100
def t(n, r): print("ATTACK", n, "DONE" if r >= 0 else "BLOCKED " + os.strerror(ctypes.get_errno()))
if own:
    t("mount tmpfs", libc.mount(b"t", b"/tmp/m", b"tmpfs", 0, None)); t("remount / rw", libc.mount(b"", b"/", None, 32 | 4096, None))
    t("umount /work", libc.umount2(b"/work", 2)); t("chroot", libc.chroot(b"/tmp")); t("pivot_root", libc.syscall(155, b"/tmp", b"/tmp/m"))
    t("unshare user+mnt", libc.unshare(0x10020000)); t("setns pid1 mnt", libc.setns(os.open("/proc/1/ns/mnt", 0) if os.access("/proc/1/ns/mnt", 4) else -1, 0))
    t("clone3", libc.syscall(435, 0, 0)); t("clone(NEWUSER)", libc.syscall(56, 0x10000011, 0, 0, 0, 0)); t("fsopen tmpfs", libc.syscall(430, b"tmpfs", 0)); t("open_tree", libc.syscall(428, -100, b"/", 1))
    t("setuid 0", libc.setuid(0))
else: print("ATTACK mount: not in a pid namespace of its own, skipped")
