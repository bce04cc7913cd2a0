"""The command line of a supervisor."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.sandbox.bubblewrap import Version

USAGE = (
    "usage: supervisor JOBDIR RUN [--stage DIR] [--uid N] [--peer-uid N] [--owner UID:GID] "
    "[--bwrap PATH --bwrap-version X.Y.Z] [--known JSON] [--slurm] [--fault TEXT]"
)


class UsageError(Exception):
    """The command line makes no sense."""


class Options:
    """JOBDIR RUN, and what a launcher adds.

    `stage`: folder with everything the run's uid must reach (work, 0, 1, …, runtime, out);
    `uid`: whom the run belongs to; `peer_uid`: whom the other side of a paired run belongs to; `owner`: uid and gid
    of the service; `known`: the report of the launcher's self-test; `fault`: why the launcher could not prepare it.
    """

    def __init__(self, words: list[str]) -> None:
        self.stage: str | None = None
        self.uid: int | None = None
        self.peer_uid: int | None = None
        self.out: str | None = None
        """where /out is kept; None: in JOBDIR/out"""
        self.owner: tuple[int, int] | None = None
        self.bwrap: tuple[str, Version] | None = None
        self.fault: str | None = None
        self.known: dict[str, Any] | None = None
        self.slurm = False
        """whether node and cards are what Slurm says here"""
        path = version = None
        plain: list[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if not word.startswith("--"):
                plain.append(word)
            elif word == "--slurm":
                self.slurm = True
            elif not rest:
                raise UsageError(f"{word} wants a value")
            elif word == "--stage":
                self.stage = rest.pop(0)
            elif word == "--uid":
                self.uid = int(rest.pop(0))
            elif word == "--peer-uid":
                self.peer_uid = int(rest.pop(0))
            elif word == "--owner":
                uid, _, gid = rest.pop(0).partition(":")
                self.owner = (int(uid), int(gid))
            elif word == "--bwrap":
                path = rest.pop(0)
            elif word == "--bwrap-version":
                from qianka.sandbox.bubblewrap import parse_version

                version = parse_version("bubblewrap " + rest.pop(0))
            elif word == "--known":
                from qianka.jobdir.codec import loads

                self.known = dict(loads(rest.pop(0)))
            elif word == "--fault":
                self.fault = rest.pop(0)
            else:
                raise UsageError(f"{word} is not known")
        if len(plain) != 2 or not plain[1].isdecimal() or int(plain[1]) < 1:
            raise UsageError(USAGE)
        self.directory = os.path.abspath(plain[0])
        self.run = int(plain[1])
        if path and version:
            self.bwrap = (path, version)

    def for_peer(self) -> Options:
        """For the other side of a paired run: a part of the stage, a uid and a place for /out of its own."""
        other = object.__new__(Options)
        other.__dict__.update(self.__dict__)
        other.stage = None if self.stage is None else f"{self.stage}/peer"
        other.uid = self.peer_uid
        other.out = os.path.join(self.directory, "runs", str(self.run), "peer")
        return other
