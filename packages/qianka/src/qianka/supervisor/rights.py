"""Whose rights a supervisor uses: those of the job directory's owner, root's only where needed.

A supervisor that root started works on files in a folder that an ordinary user owns and may have
filled with traps; as that user it can do no more harm there than they.
"""

from __future__ import annotations

import os


class Rights:
    """Effective user and group of this process; `with rights.root:` raises them for a moment."""

    def __init__(self, directory: str, owner: tuple[int, int] | None = None) -> None:
        """`owner`: who the launcher says the service is; the folder itself may be a link at this moment."""
        self.is_root = os.geteuid() == 0
        stat = os.stat(directory)
        self.owner = owner or (stat.st_uid, stat.st_gid)
        self.lowered = self.is_root and self.owner[0] != 0
        self.root = _Raised(self)
        if self.lowered:
            os.setgroups([])
            self.lower()

    def lower(self) -> None:
        """Take the owner's rights."""
        if self.lowered:
            os.setegid(self.owner[1])
            os.seteuid(self.owner[0])

    def rise(self) -> None:
        """Take root's rights, when this process has them."""
        if self.lowered:
            os.seteuid(0)
            os.setegid(0)


class _Raised:
    """Nesting is fine: only the outermost changes anything."""

    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._rights.rise()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._rights.lower()
