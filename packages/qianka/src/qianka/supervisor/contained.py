"""Backend "bubblewrap": what the run sees, and what is missing of full isolation."""

from __future__ import annotations

import os

from qianka.sandbox import bounds, bubblewrap, devices, environment, find, runtime
from qianka.supervisor.child import Start
from qianka.supervisor.plan import Plan, Unfit
from qianka.supervisor.volume import Volume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.options import Options
    from qianka.supervisor.rights import Rights


_HERE = os.path.dirname(os.path.abspath(bubblewrap.__file__))


def contained_plan(job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights, grouped: bool) -> Plan:
    """How the run is started. Raises Unfit when there is no sandbox to be had."""
    found = options.bwrap or find.bubblewrap()
    if found is None:
        raise Unfit("bubblewrap is not installed, or does not run")
    path, version = found
    uid = options.uid if options.uid is not None else spare_uid(rights, peer=options.out is not None)
    volume = _volume(job, options, rights, version)
    cards = devices.real_cards(fence.get("cards") or [])
    setup = bubblewrap.Setup(version)
    setup.out = _place_of_out(volume, options, uid)
    setup.tmp, setup.shm, setup.disk = (job["limits"][key] for key in ("tmp", "shm", "disk"))
    setup.cwd, setup.network = job["cwd"], job["network"]
    seen = dict(job)
    if job["runtime"]:
        seen["runtime"] = runtime.inside(job["runtime"], ["/work", "/out", *(m["target"] for m in job["mounts"])])
    setup.binds = binds(job, seen["runtime"], options.stage)
    setup.environment = environment.variables(
        seen, options.run, fence.get("cards") or [], temporary=bubblewrap.TEMPORARY, out="/out"
    )
    if cards:
        setup.devices = devices.arguments(cards, listing("/dev"), os.listdir("/sys/devices"))
    argv = list(job["argv"])
    if argv[0] == "python" and not job["runtime"]:
        argv[0] = "/usr/bin/python3"
    if not grouped:
        argv = bounds.counted(argv, job["limits"]["processes"])
    plan = Plan(Start(path, ["bwrap"], {"PATH": "/usr/bin:/bin"}), volume)
    _fill_descriptors(plan, setup, argv, hide_memory=grouped or bool(cards))
    plan.start.uid = uid
    plan.missing = _missing(job, grouped, uid, volume, version)
    plan.level = "degraded" if plan.missing else "full"
    return plan


def _fill_descriptors(plan: Plan, setup: bubblewrap.Setup, argv: list[str], *, hide_memory: bool) -> None:
    """Open what bubblewrap inherits, and complete its command line."""
    kind = "" if hide_memory else "-nomemfd"
    filters = f"{_HERE}/filters/{os.uname().machine}{kind}.bpf"
    try:
        seccomp = os.open(filters, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unfit(f"no system call filter for {os.uname().machine}") from None
    etc = {name: os.open(f"{_HERE}/etc/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in bubblewrap.ETC}
    plan.status, status = os.pipe()
    inherited = [seccomp, status, *etc.values()]
    block = None
    if plan.volume.kind == "inside":
        block, plan.release = os.pipe()
        inherited.append(block)
    words = bubblewrap.options(setup, seccomp=seccomp, status=status, etc=etc, block=block)
    given = os.memfd_create("options", os.MFD_CLOEXEC)
    os.write(given, bubblewrap.pack(words))
    os.lseek(given, 0, os.SEEK_SET)
    inherited.append(given)
    plan.start.argv += ["--args", str(given), "--", *argv]
    plan.start.inherited = inherited
    plan.opened = inherited


def _missing(
    job: dict[str, Any], grouped: bool, uid: int | None, volume: Volume, version: tuple[int, int, int]
) -> list[str]:
    """Codes of what full isolation would have; their texts are in sandbox.advice."""
    missing = []
    if not grouped:
        missing.append("control_groups")
        if not os.access(bounds.PRLIMIT, os.X_OK):
            missing.append("process_limit")
    if uid is None:
        missing.append("own_uid")
    if job["volume"] == "tmpfs" and volume.kind == "folder":
        missing.append("volume")
    if version < bubblewrap.HAS_DISABLE_USERNS:
        missing.append("old_bubblewrap")
    return missing


def _volume(job: dict[str, Any], options: Options, rights: Rights, version: tuple[int, int, int]) -> Volume:
    kind = "folder"
    if job["volume"] == "tmpfs" and options.stage:
        kind = "staged"
    elif job["volume"] == "tmpfs" and not rights.is_root and version >= bubblewrap.HAS_SIZE:
        kind = "inside"
    return Volume(options.directory, kind, job["limits"], rights, options.out)


def _place_of_out(volume: Volume, options: Options, uid: int | None) -> str | None:
    if volume.kind == "staged":
        if uid is None:
            raise Unfit("a stage needs a uid for the run")
        return volume.open_staged(f"{options.stage}/out", uid)
    if volume.kind == "folder":
        own = volume.open_folder(uid)
        return f"{options.stage}/out" if options.stage else own
    return None


def binds(job: dict[str, Any], inside: str | None, stage: str | None) -> list[tuple[str, str, bool]]:
    """What is mounted, parents before what lies in them. Below a stage the sources have neutral names."""
    binds: list[tuple[str, str, bool]] = []
    if job["runtime"]:
        for number, folder in enumerate(runtime.interpreter_folders(job["runtime"])):
            binds.append((f"{stage}/base{number}" if stage else folder, folder, False))
        if not job["runtime"].startswith("/usr/"):
            binds.append((f"{stage}/runtime" if stage else job["runtime"], str(inside), False))
    if job["work"]:
        binds.append((f"{stage}/work" if stage else job["work"], "/work", False))
    for number, mount in enumerate(job["mounts"]):
        source = f"{stage}/{number}" if stage else mount["source"]
        binds.append((source, mount["target"], bool(mount.get("writable", False))))
    return sorted(binds, key=lambda bind: bind[1].count("/"))


def spare_uid(rights: Rights, *, peer: bool = False) -> int | None:
    """A uid for a run that root started without a launcher; an ordinary user has only their own."""
    return 61_000 + 2 * (os.getpid() % 500) + peer if rights.is_root else None


def listing(folder: str) -> list[str]:
    """Names below /dev, with those of the capability nodes."""
    names = os.listdir(folder)
    caps = "nvidia-caps"
    return names + ([f"{caps}/{name}" for name in os.listdir(f"{folder}/{caps}")] if caps in names else [])
