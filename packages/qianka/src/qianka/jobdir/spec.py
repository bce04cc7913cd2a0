"""A job as its runs need it: every field there, of the right kind, with defaults for what was left out."""

from __future__ import annotations

from qianka.jobdir.codec import FormatError
from qianka.jobdir.layout import safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MIB = 1 << 20
RESOURCES: dict[str, Any] = {"cpus": 1.0, "memory": 1024 * MIB, "gpus": 0, "nodes": 1, "exclusive": False}
LIMITS: dict[str, Any] = {
    "wall": 3600.0,
    "cpu": None,
    "processes": 256,
    "output": MIB,
    "output_total": 256 * MIB,
    "disk": 512 * MIB,
    "inodes": 20_000,
    "tmp": 256 * MIB,
    "shm": 256 * MIB,
    "grace": 0.0,
}
LEVELS = ("none", "degraded", "full")
KINDS = ("run", "grade", "reference")
CONTAINERS = ("apptainer", "docker", "podman")
PEER = ("argv", "cwd", "environment", "work", "mounts", "runtime", "resources", "limits")
"""what a peer says for itself; all else is the job's"""
BACKENDS = ("bubblewrap", "podman", "docker", "auto", "none")


def filled(job: dict[str, Any]) -> dict[str, Any]:
    """A copy of `job` with its defaults. Raises FormatError naming the field that is wrong."""
    full: dict[str, Any] = {
        "name": job.get("job"),
        "cwd": "/out",
        "environment": {},
        "work": None,
        "mounts": [],
        "volume": "tmpfs",
        "runtime": None,
        "network": "none",
        "label": "normal",
        "kind": "run",
        "cohort": None,
        "account": None,
        "torchrun": False,
        "container": None,
        "sbatch": [],
        **job,
        "resources": {**RESOURCES, **_table(job, "resources")},
        "limits": {**LIMITS, **_table(job, "limits")},
        "isolation": {"backend": "bubblewrap", "minimum": "full", **_table(job, "isolation")},
    }
    safe_id(full.get("job"))
    _check_words(full)
    _check_engine_words(full)
    _check_numbers(full)
    full["peer"] = _filled_peer(full, _table(job, "peer")) if job.get("peer") is not None else None
    return full


def sides(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides of a filled paired job, each as a job of its own: ours, and the peer's.

    `resources` are those of the whole: the peer's memory is its part of them, the rest is ours; the cores are
    shared, since the two take turns.
    """
    peer = job["peer"]
    ours = {**job, "peer": None, "resources": {**job["resources"], "gpus": 0}}
    ours["resources"]["memory"] -= peer["resources"]["memory"]
    # Its /out is nobody's to keep, so the kernel may bound it.
    return ours, {**job, **peer, "peer": None, "volume": "tmpfs", "network": "none"}


def _filled_peer(job: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    """The peer of a filled job, with its defaults: nothing of the job's own is handed on but time and cores."""
    given: dict[str, Any] = {"cwd": "/out", "environment": {}, "work": None, "mounts": [], "runtime": None, **peer}
    whole = job["resources"]
    given["resources"] = {**whole, "memory": whole["memory"] // 2, **_table(peer, "resources"), "gpus": whole["gpus"]}
    # One clock for both, and none of the two may outlive it.
    given["limits"] = {**LIMITS, **_table(peer, "limits"), "wall": job["limits"]["wall"], "grace": 0.0}
    _need(set(given) == set(PEER), "peer")
    side = {**job, **given}
    try:
        _check_words(side)
        _check_numbers(side)
    except FormatError as error:
        raise FormatError(f"{error} (in peer)") from None
    _need(whole["nodes"] == 1, "peer, in a job of several nodes:")
    _need(given["resources"]["memory"] < whole["memory"], "peer.resources.memory")
    _need(given["resources"]["cpus"] <= whole["cpus"], "peer.resources.cpus")
    return given


def below(level: str, minimum: str) -> bool:
    """Whether an isolation level is lower than the least that a job accepts."""
    return LEVELS.index(level) < LEVELS.index(minimum)


def _table(job: dict[str, Any], key: str) -> dict[str, Any]:
    value = job.get(key) or {}
    _need(isinstance(value, dict), key)
    return dict(value)


def _need(true: bool, field: str) -> None:
    if not true:
        raise FormatError(f"job.json: {field} is missing or of the wrong kind")


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("/") and "\0" not in value and ".." not in value.split("/")


def _check_words(job: dict[str, Any]) -> None:
    argv = job.get("argv")
    _need(isinstance(argv, list) and bool(argv) and all(isinstance(word, str) for word in argv), "argv")
    _need(isinstance(job["environment"], dict), "environment")
    for key, value in job["environment"].items():
        _need(isinstance(value, str) and bool(key) and "=" not in key, f"environment.{key}")
    _need(_is_path(job["cwd"]), "cwd")
    for key in ("work", "runtime"):
        _need(job[key] is None or _is_path(job[key]), key)
    _need(isinstance(job["mounts"], list), "mounts")
    for mount in job["mounts"]:
        _need(isinstance(mount, dict) and _is_path(mount.get("source")) and _is_path(mount.get("target")), "mounts")
        _need(isinstance(mount.get("writable", False), bool), "mounts.writable")
    _need(job["volume"] in ("tmpfs", "folder"), "volume")
    _need(job["network"] in ("none", "host"), "network")
    _need(job["kind"] in KINDS, "kind")
    _need(job["isolation"]["backend"] in BACKENDS, "isolation.backend")
    _need(job["isolation"]["minimum"] in LEVELS, "isolation.minimum")
    image = job["isolation"].get("image")
    # An image's name stands on an engine's command line: never one that would be read as an option.
    _need(image is None or (isinstance(image, str) and image[:1].isalnum()), "isolation.image")
    socket = job["isolation"].get("socket")
    _need(socket is None or _is_path(socket), "isolation.socket")


def _check_engine_words(job: dict[str, Any]) -> None:
    """What only an engine with several nodes reads; one line each, since it goes into a batch script."""
    _need(job["cohort"] is None or _is_line(job["cohort"]), "cohort")
    _need(job["account"] is None or _is_line(job["account"]), "account")
    _need(isinstance(job["torchrun"], bool), "torchrun")
    container = job["container"]
    if container is not None:
        _need(isinstance(container, dict) and set(container) == {"kind", "image"}, "container")
        _need(container["kind"] in CONTAINERS and _is_line(container["image"]), "container")
    _need(isinstance(job["sbatch"], list), "sbatch")
    for option in job["sbatch"]:
        _need(_is_line(option) and option.startswith("--"), "sbatch")


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _check_numbers(job: dict[str, Any]) -> None:
    resources, limits = job["resources"], job["limits"]
    _need(_is_number(resources["cpus"]) and resources["cpus"] > 0, "resources.cpus")
    _need(_is_count(resources["memory"]) and resources["memory"] > 0, "resources.memory")
    _need(_is_count(resources["gpus"]), "resources.gpus")
    _need(_is_count(resources["nodes"]) and resources["nodes"] > 0, "resources.nodes")
    _need(isinstance(resources["exclusive"], bool), "resources.exclusive")
    _need(_is_number(limits["wall"]) and limits["wall"] > 0, "limits.wall")
    _need(limits["cpu"] is None or (_is_number(limits["cpu"]) and limits["cpu"] > 0), "limits.cpu")
    _need(_is_number(limits["grace"]) and limits["grace"] >= 0, "limits.grace")
    for key in ("processes", "output", "output_total", "disk", "inodes", "tmp", "shm"):
        _need(_is_count(limits[key]), f"limits.{key}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
