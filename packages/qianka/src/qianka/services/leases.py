"""One holder at a time (of the worker's loops, of a backup): a row with an end, renewed while its holder lives.

The owner's name tells process, start time, boot and process namespace, so on the same machine a holder
that was killed is known dead at once; elsewhere its lease has to run out. Time is the database's own on
PostgreSQL, where holders may sit on machines whose clocks differ; SQLite has one machine and its clock.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qianka.jobdir.beat import boot_id, same_process, start_ticks
from qianka.services.platform import Platform
from qianka.store.repos import records
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
        try:
            with self.platform.store.transaction() as session:
                now = now_of(session, self.platform)
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


def now_of(session: Session, platform: Platform) -> datetime:
    """The instant by which leases are judged."""
    return records.database_time(session) or platform.now()


def is_held(session: Session, platform: Platform, name: str) -> bool:
    """Whether somebody who lives, as far as one can tell, holds the lease `name`."""
    row = session.get(Row, name)
    return row is not None and row.expires_at > now_of(session, platform) and not known_dead(row.owner)


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
