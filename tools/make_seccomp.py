"""Build the seccomp filters that the sandbox carries, one a machine architecture and kind.

    python tools/make_seccomp.py [FOLDER]

Needs pyseccomp and libseccomp2 (developers only; the built filters are committed). A deny list:
an allow list breaks CUDA and torch too easily. Calls of another architecture (i386, x32) are killed,
so that the list is not bypassed that way. The same list is written twice: as a program for bubblewrap (.bpf),
and as a profile for Podman and Docker (.json).
"""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path
from typing import Any

import pyseccomp as seccomp

FILTERS = Path(__file__).resolve().parent.parent / "packages/qianka/src/qianka/sandbox/filters"
NAMES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
ARCHITECTURES = {"x86_64": seccomp.Arch.X86_64, "aarch64": seccomp.Arch.AARCH64}

_DENIED = """
mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
setns unshare ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise
keyctl add_key request_key bpf perf_event_open userfaultfd
init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl quotactl_fd
open_by_handle_at name_to_handle_at fanotify_init syslog vhangup iopl ioperm lookup_dcookie nfsservctl
settimeofday clock_settime clock_adjtime adjtimex stime sethostname setdomainname uselib ustat sysfs _sysctl
personality modify_ldt vm86 vm86old
"""
DENIED = _DENIED.split()
# "No such call" makes the C library and liburing fall back to older calls that the filter can look into.
ABSENT = ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"]
# CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWUTS, NEWIPC, NEWCGROUP, NEWTIME
NAMESPACE_FLAGS = (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x04000000, 0x08000000, 0x02000000, 0x80)
TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
AF_NETLINK, LAST_FAMILY = 16, 45
ALLOWED_FAMILIES = (1, 2, 10)  # unix, inet, inet6: their reach is the network namespace's


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FILTERS
    folder.mkdir(parents=True, exist_ok=True)
    for name in ARCHITECTURES:
        for without_memfd in (False, True):
            path = folder / f"{name}{'-nomemfd' if without_memfd else ''}.bpf"
            build(path, name, without_memfd=without_memfd)
            path.with_suffix(".json").write_text(profile(name, without_memfd=without_memfd), "utf-8")
            print(path.name, path.stat().st_size, "bytes")
    return 0


def build(path: Path, architecture: str, *, without_memfd: bool) -> None:
    """Write one filter.

    `without_memfd` also denies memfd_create: without a control group, memory held that way is seen
    by nobody. CUDA needs the call, so only runs without a card get that filter.
    """
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    native = seccomp.system_arch()
    if native != ARCHITECTURES[architecture]:
        rules.add_arch(ARCHITECTURES[architecture])
        rules.remove_arch(native)
    for call in DENIED:
        _deny(rules, seccomp.ERRNO(errno.EPERM), call)
    for call in ABSENT:
        _deny(rules, seccomp.ERRNO(errno.ENOSYS), call)
    if without_memfd:
        for call in ("memfd_create", "memfd_secret"):
            _deny(rules, seccomp.ERRNO(errno.ENOSYS), call)
    for flag in NAMESPACE_FLAGS:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in TERMINAL_INJECTION:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFFFFFF, request))
    _sockets(rules)
    with path.open("wb") as file:
        rules.export_bpf(file)


def profile(architecture: str, *, without_memfd: bool) -> str:
    """The same denials as a profile of the OCI's format. A call that an engine's libseccomp lacks is passed over."""
    rules: list[dict[str, Any]] = [_rule(DENIED, errno.EPERM), _rule(ABSENT, errno.ENOSYS)]
    if without_memfd:
        rules.append(_rule(["memfd_create", "memfd_secret"], errno.ENOSYS))
    for flag in NAMESPACE_FLAGS:
        rules.append(_rule(["clone"], errno.EPERM, _masked(0, flag, flag)))
    for request in TERMINAL_INJECTION:
        rules.append(_rule(["ioctl"], errno.EPERM, _masked(1, 0xFFFFFFFF, request)))
    netlink = [_masked(0, 0xFFFFFFFF, AF_NETLINK), {"index": 2, "value": 0, "op": "SCMP_CMP_NE"}]
    rules.append(_rule(["socket"], errno.EAFNOSUPPORT, *netlink))
    for family in range(LAST_FAMILY + 1):
        if family not in (*ALLOWED_FAMILIES, AF_NETLINK):
            rules.append(_rule(["socket"], errno.EAFNOSUPPORT, _masked(0, 0xFFFFFFFF, family)))
    rules.append(_rule(["socket"], errno.EAFNOSUPPORT, {"index": 0, "value": LAST_FAMILY, "op": "SCMP_CMP_GT"}))
    whole = {"defaultAction": "SCMP_ACT_ALLOW", "architectures": [NAMES[architecture]], "syscalls": rules}
    return json.dumps(whole, indent=1) + "\n"


def _rule(calls: list[str], error: int, *arguments: dict[str, Any]) -> dict[str, Any]:
    return {"names": calls, "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": list(arguments)}


def _masked(index: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _deny(rules: seccomp.SyscallFilter, action: int, call: str) -> None:
    try:
        rules.add_rule(action, call)
    except (OSError, ValueError):
        # Not a call of this architecture, or one newer than this libseccomp.
        print("  not known here:", call, file=sys.stderr)


def _sockets(rules: seccomp.SyscallFilter) -> None:
    refusal = seccomp.ERRNO(errno.EAFNOSUPPORT)
    # AF_VSOCK (40) is in no namespace and reaches the machine's host; the others are kernel surface.
    # Of netlink only ROUTE stays: torch.distributed's gloo lists the interfaces through it.
    rules.add_rule(
        refusal,
        "socket",
        seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, AF_NETLINK),
        seccomp.Arg(2, seccomp.NE, 0),
    )
    for family in range(LAST_FAMILY + 1):
        if family not in (*ALLOWED_FAMILIES, AF_NETLINK):
            rules.add_rule(refusal, "socket", seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, family))
    rules.add_rule(refusal, "socket", seccomp.Arg(0, seccomp.GT, LAST_FAMILY))


if __name__ == "__main__":
    sys.exit(main())
