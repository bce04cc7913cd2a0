"""Backends "podman" and "docker": the run is a container of the engine's; its figures are read from outside."""

from __future__ import annotations

import os

from qianka.sandbox import cgroup_paths, devices, environment, runtime
from qianka.sandbox.container import command, engine, reap
from qianka.supervisor.child import Start
from qianka.supervisor.contained import binds, listing, spare_uid
from qianka.supervisor.container_watch import ContainerPlan, ContainerWatch
from qianka.supervisor.plan import Unfit
from qianka.supervisor.volume import Volume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.options import Options
    from qianka.supervisor.rights import Rights

_LINE = "container.sock"


def container_plan(
    job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights, known: dict[str, Any]
) -> ContainerPlan:
    """How the run is started; `known`: the report of the self-test. Raises Unfit."""
    name = job["isolation"]["backend"]
    if name == "docker" and options.stage is not None:
        raise Unfit(
            "Docker's daemon does not see what the launcher mounts: as root use Podman (sandbox.backend = podman)"
        )
    try:
        with rights.root:
            found = engine.known(known, name, str(job["isolation"].get("socket") or ""))
    except engine.EngineError as error:
        raise Unfit(str(error)) from error
    uid = options.uid if options.uid is not None else spare_uid(rights, peer=options.out is not None)
    volume = _volume(job, options, rights)
    plan = ContainerPlan(Start(found.path, [], {}), volume)
    plan.engine = found
    plan.listening, line = _listen(options, rights)
    label = reap.label_of(os.path.dirname(options.directory))
    setup = command.Setup(
        reap.name_of(job["job"], options.directory, options.run, options.out is not None), label, line
    )
    plan.setup = setup
    _fill(setup, job, fence, options, uid)
    if volume.kind == "staged" and uid is not None:
        source = volume.open_staged(f"{options.stage}/out", uid)
        setup.binds.append((source, "/out", True))
    elif volume.kind == "folder":
        own = volume.open_folder(uid)
        setup.binds.append((f"{options.stage}/out" if options.stage else own, "/out", True))
    else:
        setup.out = ("tmpfs", job["limits"]["disk"])
    try:
        plan.start.argv = command.run(found, setup)
    except command.Unmountable as error:
        raise Unfit(str(error)) from error
    with rights.root:
        plan.start.environment = engine.environment()
    plan.start.cwd = "/"
    plan.begin = _begin(job, fence, options)
    plan.watch = ContainerWatch
    plan.missing = _missing(known, name, uid, setup.is_limited)
    plan.level = "degraded" if plan.missing else "full"
    return plan


def _fill(setup: command.Setup, job: dict[str, Any], fence: dict[str, Any], options: Options, uid: int | None) -> None:
    limits, resources = job["limits"], job["resources"]
    setup.image = job["isolation"].get("image") or None
    setup.user = (uid, uid) if uid is not None else (os.geteuid(), os.getegid())
    is_rootless = uid is None and job["isolation"]["backend"] == "podman"
    setup.keeps_user = is_rootless
    setup.is_limited = not is_rootless or cgroup_paths.find().version == 2
    setup.memory, setup.processes, setup.cpus = resources["memory"], limits["processes"], resources["cpus"]
    setup.tmp, setup.shm, setup.inodes = limits["tmp"], limits["shm"], limits["inodes"]
    setup.network = job["network"]
    cards = devices.real_cards(fence.get("cards") or [])
    setup.hide_memory = not setup.is_limited and not cards
    if setup.image is not None:
        setup.python = "python3"
        setup.cards = [str(card["uuid"]) for card in cards]
        setup.binds = binds({**job, "runtime": None}, None, options.stage)
        return
    setup.devices = devices.nodes(cards, listing("/dev")) if cards else []
    setup.binds = binds(job, _runtime_inside(job), options.stage)


def _runtime_inside(job: dict[str, Any]) -> str | None:
    if not job["runtime"]:
        return None
    return runtime.inside(job["runtime"], ["/work", "/out", *(mount["target"] for mount in job["mounts"])])


def _begin(job: dict[str, Any], fence: dict[str, Any], options: Options) -> dict[str, Any]:
    """What goes over the line: on no command line, in no environment that others could read."""
    is_own = bool(job["isolation"].get("image"))
    seen = {**job, "runtime": None if is_own else _runtime_inside(job)}
    words = environment.variables(seen, options.run, fence.get("cards") or [], temporary="/tmp", out="/out")  # noqa: S108
    if is_own:
        words["PATH"] = "/opt/conda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    # The user has no entry in the container's list of users.
    words = {"USER": "student", "LOGNAME": "student", **words}
    argv = list(job["argv"])
    if argv[0] == "python" and not seen["runtime"]:
        argv[0] = "python3" if is_own else "/usr/bin/python3"
    cores = [int(core) for core in fence.get("cores") or []]
    return {"argv": argv, "environment": words, "cwd": job["cwd"], "cores": cores}


def _missing(known: dict[str, Any], name: str, uid: int | None, is_limited: bool) -> list[str]:
    """Codes of what full isolation would have; their texts are in sandbox.advice."""
    missing = [] if is_limited else ["control_groups"]
    if uid is None:
        missing.append("own_uid")
    if known.get("backend") != name:
        missing.append("unproven")
    else:
        told = [str(item.get("code")) for item in known.get("missing") or [] if item.get("need") != "note"]
        missing += [code for code in told if code not in missing]
    return missing


def _volume(job: dict[str, Any], options: Options, rights: Rights) -> Volume:
    kind = "folder"
    if job["volume"] == "tmpfs":
        kind = "staged" if options.stage else "inside"
    return Volume(options.directory, kind, job["limits"], rights, options.out)


def _listen(options: Options, rights: Rights) -> tuple[Any, str]:
    """The socket and its path; behind a launcher on the stage, where the service cannot put a link in its place."""
    import socket

    folder = options.stage or os.path.join(options.directory, "runs", str(options.run))
    name = _LINE if options.out is None or options.stage else f"peer-{_LINE}"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    with rights.root:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # The run's own user must reach it; the folder it lies in is closed to everybody else. Made so rather than
        # changed afterwards, when something else could stand under its name.
        mask = os.umask(0o111)
        try:
            # A path of any length: the address itself holds no more than 107 bytes.
            listening.bind(f"/proc/self/fd/{place}/{name}")
        finally:
            os.umask(mask)
            os.close(place)
    listening.listen(1)
    return listening, os.path.join(folder, name)
