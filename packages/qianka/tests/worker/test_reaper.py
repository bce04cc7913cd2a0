"""What is cleared away, and what never is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from qianka.services import events
from qianka.services.platform import Platform
from qianka.store.tables import Event, Job, Token
from qianka.testing import FakeClock, FakeEngine, make_job, make_person, make_platform
from qianka.worker.reaper import Reaper

NOW = datetime.now(timezone.utc)


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path, clock=FakeClock(NOW))
    yield platform
    platform.store.close()


@pytest.fixture
def engine(platform: Platform) -> FakeEngine:
    return FakeEngine(platform.clock)


def aged(path: Path, days: float) -> Path:
    at = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (at, at))
    return path


def ended_job(platform: Platform, days: float | None) -> str:
    job = make_job(platform, make_person(platform))
    (platform.folders.jobs / job.id).mkdir()
    aged(platform.folders.jobs / job.id, 90)
    if days is not None:
        with platform.store.transaction() as session:
            row = session.get(Job, job.id)
            assert row is not None
            row.state, row.ended_at = "COMPLETED", NOW - timedelta(days=days)
    return job.id


def test_directories_go_a_month_after_the_end_of_their_job(platform: Platform, engine: FakeEngine) -> None:
    old, fresh, waiting = ended_job(platform, 40), ended_job(platform, 3), ended_job(platform, None)
    stranger = platform.folders.jobs / "j-of-a-restored-backup"
    stranger.mkdir()
    aged(stranger, 40)
    newcomer = platform.folders.jobs / "j-being-made"
    newcomer.mkdir()
    Reaper(platform, engine).step()
    assert sorted(engine.cleaned) == sorted([old, stranger.name])
    assert fresh not in engine.cleaned
    assert waiting not in engine.cleaned
    with platform.store.reading() as session:
        assert session.get(Job, old) is not None


def test_old_events_go_but_the_newest_stays_as_the_cursor(platform: Platform, engine: FakeEngine) -> None:
    assert isinstance(platform.clock, FakeClock)
    platform.clock.set(NOW - timedelta(days=8))
    with platform.store.transaction() as session:
        for _ in range(3):
            events.emit(session, platform, "job:j", "queued")
    platform.clock.set(NOW)
    Reaper(platform, engine).step()
    with platform.store.reading() as session:
        assert [e.id for e in session.query(Event)] == [3]


def test_tokens_go_a_week_after_they_ended(platform: Platform, engine: FakeEngine) -> None:
    person = make_person(platform)

    def token(name: str, expires: float, revoked: float | None = None) -> Token:
        return Token(
            person_id=person.id,
            kind="bearer",
            secret_hash=name,
            created_at=NOW,
            expires_at=NOW + timedelta(days=expires),
            revoked_at=None if revoked is None else NOW + timedelta(days=revoked),
        )

    with platform.store.transaction() as session:
        session.add_all([token("good", 5), token("just", -1), token("long", -9), token("revoked", 50, -9)])
    Reaper(platform, engine).step()
    with platform.store.reading() as session:
        assert sorted(t.secret_hash for t in session.query(Token)) == ["good", "just"]


def test_unfinished_uploads_of_yesterday_go(platform: Platform, engine: FakeEngine) -> None:
    incoming = platform.folders.incoming
    (incoming / "new").write_bytes(b"x")
    (incoming / "old").write_bytes(b"x")
    (incoming / "folder").mkdir()
    (incoming / "folder" / "part").write_bytes(b"x")
    for name in ("old", "folder"):
        aged(incoming / name, 2)
    Reaper(platform, engine).step()
    assert [p.name for p in incoming.iterdir()] == ["new"]


def test_a_directory_that_cannot_be_removed_holds_up_nothing(platform: Platform, engine: FakeEngine) -> None:
    ids = [ended_job(platform, 40), ended_job(platform, 40)]

    class Stubborn(FakeEngine):
        def clean(self, job: str) -> None:
            if job == min(ids):
                raise OSError(16, "Device or resource busy")
            super().clean(job)

    stubborn = Stubborn(platform.clock)
    Reaper(platform, stubborn).step()
    assert stubborn.cleaned == [max(ids)]
