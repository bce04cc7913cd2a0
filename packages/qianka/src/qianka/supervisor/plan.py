"""From a job to the process that is started for it: what all backends share."""

from __future__ import annotations

import os

from qianka.sandbox import cgroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qianka.supervisor.child import Start
    from qianka.supervisor.rights import Rights
    from qianka.supervisor.volume import Volume
    from qianka.supervisor.watch import Watch


class Unfit(Exception):
    """This machine cannot run the job as it asks to be run; the message says what is missing."""


class Plan:
    """How one run is started and watched."""

    def __init__(self, start: Start, volume: Volume) -> None:
        self.start = start
        self.volume = volume
        self.group: cgroup.Group | None = None
        self.level = "none"
        self.missing: list[str] = []
        self.status: int | None = None
        """where bubblewrap tells of its process and of the command's end"""
        self.release: int | None = None
        """where a byte lets the command begin"""
        self.opened: list[int] = []
        """descriptors to close once the process is started"""
        self.temporary: str | None = None
        self.remains: Callable[[], None] | None = None
        """removes what would be left on the machine, where that is more than a group"""
        self.watch: type[Watch] | None = None
        """how it is watched, where not as usual"""

    def hand_over(self, descriptor: int) -> None:
        """Let the run inherit a descriptor; ours is closed once it is started."""
        self.start.inherited = [*self.start.inherited, descriptor]
        self.opened = [*self.opened, descriptor]


def make_group(
    job: dict[str, Any], directory: str, run: int, rights: Rights, peer: bool = False
) -> tuple[cgroup.Group | None, str]:
    """The run's control group, or None and the reason. `peer`: that of the other side of a paired run."""
    name = cgroup.name_of(job["job"], os.stat(directory).st_ino, run, peer)
    try:
        with rights.root:
            return cgroup.make(
                name,
                memory=job["resources"]["memory"],
                processes=job["limits"]["processes"],
                cpus=job["resources"]["cpus"],
                together=not peer,
            ), ""
    except cgroup.GroupError as error:
        return None, str(error)
