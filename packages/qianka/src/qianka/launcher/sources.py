"""Opening what a job wants mounted: only what the service may show, and never through a link.

The launcher is root and the job file is written by the service. So a source must lie in the data
directory (its secrets apart), below a path that root allowed when starting the launcher, or where
everybody may look anyway.
"""

from __future__ import annotations

import os

# Only Linux has O_PATH; elsewhere there is no launcher, but its modules can be looked at.
_STEP = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC
_HIDDEN = ("secrets", "run")
_ANYBODY = 0o001


class NotAllowed(Exception):
    """A source that must not be shown to a run; the message names it and says why."""


class Sources:
    """What may be mounted; `data` and `allowed` are absolute paths."""

    def __init__(self, data: str, allowed: list[str]) -> None:
        self.given = os.path.normpath(data)
        self.data = os.path.realpath(data)
        self.allowed = [os.path.realpath(path) for path in allowed]

    def open(self, path: str) -> int:
        """A descriptor (O_PATH) of the folder or file at `path`. Raises NotAllowed, OSError."""
        path = os.path.normpath(path)
        if path == self.given or path.startswith(self.given + "/"):
            path = self.data + path[len(self.given) :]
        inside = self._granted(path)
        here = os.open("/", _STEP | os.O_DIRECTORY)
        for part in path.strip("/").split("/"):
            try:
                following = os.open(part, _STEP, dir_fd=here)
            finally:
                os.close(here)
            here = following
            mode = os.fstat(here).st_mode
            kind = mode & 0o170000
            if kind == 0o120000:
                os.close(here)
                raise NotAllowed(f"{path}: {part} is a link")
            if kind not in (0o040000, 0o100000):
                os.close(here)
                raise NotAllowed(f"{path}: neither a folder nor a file")
            if not inside and kind == 0o040000 and not mode & _ANYBODY:
                os.close(here)
                raise NotAllowed(f"{path}: outside the data directory and not open to everybody")
        return here

    def _granted(self, path: str) -> bool:
        if any(path == root or path.startswith(root + "/") for root in self.allowed):
            return True
        if path == self.data:
            raise NotAllowed(f"{path}: the data directory as a whole")
        if not path.startswith(self.data + "/"):
            return False
        if path[len(self.data) + 1 :].split("/")[0] in _HIDDEN:
            raise NotAllowed(f"{path}: not for runs")
        return True


def reachable(path: str) -> bool:
    """Whether every user of this machine can get at `path`."""
    here = path
    while here != "/":
        here = os.path.dirname(here)
        if not os.stat(here).st_mode & _ANYBODY:
            return False
    return True
