"""One worker at a time: a row with an end, renewed while its holder lives.

The owner's name tells process, start time, boot and process namespace, so on the same machine a holder
that was killed is known dead at once; elsewhere its lease has to run out.
"""

from __future__ import annotations

import os
from datetime import timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka.jobdir.beat import boot_id, same_process, start_ticks
from qianka.services.platform import Platform
from qianka.store.tables import Lease as Row

SECONDS = 15.0
"""how long a holder may be silent"""


class LeaseLost(Exception):
    """Another worker holds the lease now: stop, write nothing."""


class Lease:
    """The right to run the loops."""

    def __init__(self, platform: Platform, name: str = "worker", owner: str | None = None) -> None:
        self.platform = platform
        self.name = name
        self.owner = owner or owner_name(os.getpid())

    def acquire(self) -> bool:
        """Take or renew the lease; False while another holds it."""
        now = self.platform.now()
        try:
            with self.platform.store.transaction() as session:
                row = session.get(Row, self.name)
                if row is None:
                    session.add(Row(name=self.name, owner=self.owner, expires_at=now + timedelta(seconds=SECONDS)))
                    return True
                if row.owner != self.owner and row.expires_at > now and not known_dead(row.owner):
                    return False
                row.owner, row.expires_at = self.owner, now + timedelta(seconds=SECONDS)
                return True
        except IntegrityError:
            return False  # another made the row at the same instant

    def check(self, session: Session) -> None:
        """Raises LeaseLost, inside the transaction that must not happen, when another took over."""
        row = session.get(Row, self.name)
        if row is None or row.owner != self.owner:
            raise LeaseLost(self.name)

    def release(self) -> None:
        """Give it back, if it is still ours."""
        with self.platform.store.transaction() as session:
            row = session.get(Row, self.name)
            if row is not None and row.owner == self.owner:
                session.delete(row)


def owner_name(pid: int) -> str:
    """What a process is called as a holder."""
    return f"{os.uname().nodename} {_namespace()} {boot_id()} {pid} {start_ticks(pid)}"


def known_dead(owner: str) -> bool:
    """Whether a holder was a process that this one could see, and is gone."""
    words = owner.split()
    if len(words) != 5 or not (words[3].isdecimal() and words[4].isdecimal()) or words[4] == "0":
        return False
    if words[0] != os.uname().nodename or words[1] != _namespace():
        return False
    return words[2] != boot_id() or not same_process(int(words[3]), int(words[4]))


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"
