"""What every use case is given: settings, clock, database and the data directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from qianka.clock import Clock, SystemClock
from qianka.errors import Language
from qianka.settings import Settings
from qianka.store.session import Store


class Folders:
    """The folders of a data directory; content-addressed where a name is a hash."""

    def __init__(self, root: Path, runtime: Path | None = None) -> None:
        self.root = root
        self.blobs = root / "blobs"  # handed-in archives by sha256
        self.trees = root / "trees"  # checked hand-ins by tree hash, read-only
        self.labs = root / "labs"  # published labs: labs/COHORT/SLUG/VERSION
        self.jobs = root / "jobs"  # job directories
        self.incoming = root / "incoming"  # uploads in flight
        self.cache = root / "cache"  # checksummed data sets
        self.runtime = runtime or root / "runtime"  # the student runtime, a venv
        self.run = root / "run"  # sockets, pid files
        self.secrets = root / "secrets"  # keys, mode 0700

    def make(self) -> None:
        """Create what is missing; nobody but the service may enter the root."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("blobs", "trees", "labs", "jobs", "incoming", "cache", "run", "secrets"):
            (self.root / name).mkdir(exist_ok=True, mode=0o700)


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Platform:
    """The composition root's gift to services; made in server/app, worker/main and tests."""

    settings: Settings
    store: Store
    clock: Clock = field(default_factory=SystemClock)
    wake_worker: Callable[[], None] = _nothing
    """tells the worker that there is something to do; may be lost, the worker looks by itself as well"""

    @property
    def folders(self) -> Folders:
        runtime = self.settings.runtime_dir
        return Folders(Path(self.settings.data_dir), Path(runtime) if runtime else None)

    def now(self) -> datetime:
        return self.clock.now()


@dataclass(frozen=True)
class Caller:
    """Who asks. The worker acts as `Caller.system()`."""

    person_id: int | None
    login: str
    is_admin: bool = False
    language: Language = "zh"
    address: str | None = None
    token_id: int | None = None
    by_alias: bool = False
    """a projector: everybody in the room looks, so nobody stands there by name, not even who chose to"""

    @classmethod
    def system(cls) -> Caller:
        """The platform itself."""
        return cls(person_id=None, login="system", is_admin=True)
