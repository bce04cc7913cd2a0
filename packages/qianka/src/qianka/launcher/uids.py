"""The uids that runs get: one for each run that goes on at the same time."""

from __future__ import annotations


class NoneFree(Exception):
    """All uids of the pool are taken."""


class UidPool:
    """`count` uids from `base` on, handed out in turn so that one is not used again at once."""

    def __init__(self, base: int, count: int) -> None:
        if base < 1000 or count < 1:
            raise ValueError("a pool needs at least one uid, none of them a system user's")
        self.base = base
        self.count = count
        self._next = 0
        self._taken: set[int] = set()

    def take(self, wanted: int = 1) -> tuple[int, ...]:
        """So many uids that no run has. Raises NoneFree."""
        found: list[int] = []
        for _ in range(self.count):
            uid = self.base + self._next
            self._next = (self._next + 1) % self.count
            if uid not in self._taken:
                found.append(uid)
            if len(found) == wanted:
                self._taken.update(found)
                return tuple(found)
        raise NoneFree(f"all {self.count} uids from {self.base} on are taken")

    def keep(self, *uids: int) -> None:
        """Note uids as taken by a run that an earlier launcher started."""
        self._taken.update(uids)

    def give_back(self, *uids: int) -> None:
        """The run of `uids` is over."""
        self._taken.difference_update(uids)


def lives(pid: int) -> bool:
    """Whether process `pid` still runs; one that only waits to be waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read(4096)
    except OSError:
        return False
    return text[text.rindex(b")") + 2 :][:1] not in (b"Z", b"X")
