"""Removing containers that a killed supervisor left. They hold no process any more: their first one ended with it."""

from __future__ import annotations

import os

from qianka.sandbox.container.command import containers
from qianka.sandbox.container.engine import Engine, EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "qianka-"


def label_of(jobs: str) -> str:
    """The label of a platform's containers: by its folder of jobs, since two platforms may share a machine."""
    stat = os.stat(jobs)
    return f"{stat.st_dev:x}-{stat.st_ino:x}"


def name_of(job: str, directory: str, run: int, peer: bool = False) -> str:
    """The name of one run's container: two platforms on one machine may use one job id. `peer`: the other side's."""
    return f"{PREFIX}{job}-{os.stat(directory).st_ino:x}{'p' if peer else ''}-{run}"


def run_of(name: str) -> tuple[str, int]:
    """Job and run of a container's name; ("", 0) for a name of another kind."""
    rest, _, run = name.rpartition("-")
    job = rest.rpartition("-")[0]
    if not name.startswith(PREFIX) or not run.isdecimal() or "/" in job or ".." in job:
        return "", 0
    return job[len(PREFIX) :], int(run)


def reap(engine: Engine, jobs: str, is_alive: Callable[[str, int], bool]) -> int:
    """Remove the containers of the platform with the folder `jobs` whose supervisor is gone; returns how many went.

    `is_alive`: whether the supervisor of a run still lives, by the job's directory and the run's number.
    """
    try:
        dead = []
        for name in containers(engine, label_of(jobs)):
            job, run = run_of(name)
            if job and not is_alive(os.path.join(jobs, job), run):
                dead.append(name)
        for name in dead:
            remove(engine, name)
    except EngineError:
        return 0
    return len(dead)


def remove(engine: Engine, name: str) -> None:
    """Remove one container with whatever runs in it; nothing where there is none. Raises EngineError."""
    engine.ask("rm", "--force", "--volumes", name, patience=30)


def filled_its_memory(engine: Engine, name: str) -> bool:
    """What the engine says of a container's end, where its control group could not be read in time."""
    try:
        code, told, _ = engine.ask("inspect", "--format", "{{.State.OOMKilled}}", name, patience=30)
    except EngineError:
        return False
    return code == 0 and told.strip() == "true"
