"""A data directory that the first release left opens in this version, and all that counts is still there."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import receipts
from qianka.errors import ConfigError
from qianka.services import access, attempts, boards, grades, submissions
from qianka.services.platform import Caller, Platform
from qianka.settings import Settings
from qianka.store import snapshot
from qianka.store.opening import open_store
from qianka.store.repos import attempts as attempt_repo
from qianka.store.repos import people as people_repo
from qianka.store.tables import Attempt, Job, Person, Submission
from qianka.store.upgrade import newest_revision, revision_of, upgrade
from qianka.testing import FakeClock, FakeEngine
from qianka.testing.labfolders import script_good_stages
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader

OLD = Path(__file__).parent / "data" / "0.1.0.tar.xz"
"""made by the code of the first release: a class of three, a lab, five hand-ins, grades, a job that runs, one
hand-in that waits; expected.json says what that release showed"""


@pytest.fixture
def old(tmp_path: Path, request: pytest.FixtureRequest, database: str) -> Iterator[Platform]:
    """The old data directory, opened and upgraded; for PostgreSQL its rows are moved there as a backup's are."""
    data = tmp_path / "data"
    with tarfile.open(OLD) as archive:
        # The archive is our own; older Pythons have no filter.
        archive.extractall(data, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # noqa: S202
    found = Settings(data_dir=str(data))
    platform = Platform(settings=found, store=open_store(found), clock=FakeClock())
    upgrade(platform.store)
    if database == "postgresql":
        file = tmp_path / "snapshot.sqlite"
        snapshot.take(platform.store, file)
        platform.store.close()
        found = Settings(data_dir=str(data), database_url=request.getfixturevalue("bare_database_url"))
        platform = Platform(settings=found, store=open_store(found), clock=FakeClock())
        snapshot.pour(file, platform.store)
    yield platform
    platform.store.close()


@pytest.fixture
def expected(old: Platform) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads((old.folders.root / "expected.json").read_text("utf-8"))
    return shown


def caller(platform: Platform, login: str) -> Caller:
    with platform.store.reading() as session:
        person = people_repo.person_by_login(session, login)
    assert person is not None
    return access.caller_of(platform, person)


def test_it_is_of_this_version_now(old: Platform) -> None:
    assert revision_of(old.store) == newest_revision()


def test_grades_and_board_show_what_they_showed(old: Platform, expected: dict[str, Any]) -> None:
    with old.store.reading() as session:
        cohort = people_repo.cohort_by_slug(session, "ai")
        assert cohort is not None
        kept = [[grade.person_id, grade.points] for grade in attempt_repo.grades_of_cohort(session, cohort.id)]
    assert sorted(kept) == sorted(expected["grades"])
    board = boards.board(old, caller(old, "teacher"), "ai", expected["lab"])
    assert [[row.name, row.score, row.points] for row in board.rows] == expected["board"]
    assert [one.points for one in grades.mine(old, caller(old, "alice"))] == [100]


def test_receipts_verify_and_the_bytes_are_what_was_handed_in(old: Platform) -> None:
    key = submissions.key_of(old)
    with old.store.reading() as session:
        handed = [(s.id, session.get(Person, s.person_id)) for s in session.query(Submission)]
    assert len(handed) == 5
    for submission, person in handed:
        assert person is not None
        receipt = submissions.receipt_of(old, access.caller_of(old, person), submission)
        verified = receipts.verify_file(submissions.receipt_file(old, receipt), {key.key_id: key.public})
        assert verified.is_trusted
        assert submissions.verify_stored(old, caller(old, "teacher"), submission) == []


def test_its_feedback_is_shown(old: Platform) -> None:
    with old.store.reading() as session:
        done = [attempt.id for attempt in session.query(Attempt) if attempt.state == "done"]
    assert len(done) == 4
    for attempt in done:
        assert attempts.get(old, caller(old, "teacher"), attempt)


def test_what_waited_is_graded_and_what_ran_is_still_known(old: Platform, expected: dict[str, Any]) -> None:
    clock = old.clock
    assert isinstance(clock, FakeClock)
    clock.advance(7300)
    engine = FakeEngine(clock, jobs=old.folders.jobs)
    script_good_stages(engine)
    dispatcher, grader = Dispatcher(old, engine), Grader(old)
    for _ in range(400):
        if grader.step() | dispatcher.step():
            continue
        dispatcher.wait(1.0)
    dispatcher.close()
    with old.store.reading() as session:
        attempt = session.query(Attempt).filter_by(submission_id=expected["waiting"]).one()
        assert (attempt.state, attempt.verdict, attempt.points) == ("done", "accepted", 100)
        job = session.get(Job, expected["running"])
        assert job is not None
        assert job.state == "COMPLETED"


def test_a_database_of_a_newer_version_is_refused_before_anything_changes(old: Platform) -> None:
    with old.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConfigError, match="newer version"):
        upgrade(old.store)
