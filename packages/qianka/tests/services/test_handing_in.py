"""C23: exactly one hand-in a key, whatever crashes or races; its receipt, its bytes, and edits of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka import intake, receipts
from qianka.errors import Conflict, Forbidden, NotFound, PlatformFault, QiankaError
from qianka.grading import labfile
from qianka.services import submissions
from qianka.services.platform import Platform
from qianka.store.session import Store
from qianka.store.tables import Attempt, Audit, Base, Event, Receipt, Submission
from qianka.testing import (
    FakeClock,
    caller_of,
    make_platform,
    make_student,
    memory_store,
)
from qianka.testing.handins import HandinScene, make_handin_scene, packed
from sqlalchemy import event, func, select


def counts(platform: Platform) -> dict[str, int]:
    with platform.store.reading() as session:
        return {
            table.__tablename__: session.scalar(select(func.count()).select_from(table)) or 0
            for table in (Submission, Receipt, Attempt)
        }


def test_a_hand_in_has_a_verifiable_receipt_and_its_bytes(course: HandinScene) -> None:
    woken = []
    course.platform = replace(course.platform, wake_worker=lambda: woken.append(1))
    data = course.archive("print('训练')").read_bytes()
    handed = course.hand_in(content="print('训练')")
    receipt = submissions.receipt_of(course.platform, caller_of(course.student), handed.submission.id)
    key = submissions.key_of(course.platform)
    file = submissions.receipt_file(course.platform, receipt)
    verified = receipts.verify_file(file, {key.key_id: key.public})
    assert verified.is_trusted
    assert verified.body["person"]["login"] == "alice"
    assert (verified.body["cohort"], verified.body["lab"], verified.body["filename"]) == ("ai", "lab1", "作业 1.zip")
    assert verified.body["submission"] == handed.submission.id
    assert [entry["path"] for entry in verified.body["files"]] == ["README.md", "code/train.py"]
    assert submissions.archive_of(course.platform, caller_of(course.student), handed.submission.id).read_bytes() == data
    assert submissions.tree_path(course.platform, handed.submission).is_dir()
    assert woken == [1]
    assert handed.attempt is not None
    with course.platform.store.reading() as session:
        assert [row.topic for row in session.scalars(select(Event))] == [
            f"attempt:{handed.attempt.id}",
            f"person:{course.student.id}",
            "staff:ai",
        ]
        assert "submission.accept" in [row.action for row in session.scalars(select(Audit))]


def test_the_receipt_lists_what_was_ignored_and_unwrapped(course: HandinScene) -> None:
    files = {"hw1/code/train.py": "x", "hw1/README.md": "#", "__MACOSX/hw1/code/._train.py": "x", ".DS_Store": "x"}
    handed = course.hand_in(archive=course.upload(packed(files)))
    assert handed.receipt is not None
    notes = "".join(note["zh"] for note in json.loads(handed.receipt.body)["notes"])
    assert "__MACOSX" in notes
    assert ".DS_Store" in notes
    assert "hw1/" in notes


def test_nothing_of_an_upload_stays_in_incoming(course: HandinScene) -> None:
    course.hand_in()
    course.hand_in(key="same-key", content="x")
    course.hand_in(key="same-key", content="x")
    course.hand_in(archive=wrong(course))
    assert list(course.platform.folders.incoming.iterdir()) == []


def wrong(course: HandinScene) -> Path:
    return course.upload(packed({"Code/train.py": "x", "README.MD": "x"}))


def test_a_retry_is_the_same_hand_in(course: HandinScene) -> None:
    first = course.hand_in(key="key-12345", content="x")
    again = course.hand_in(key="key-12345", content="x")
    assert again.again
    assert not first.again
    assert again.submission.id == first.submission.id
    assert again.receipt is not None
    assert first.receipt is not None
    assert again.receipt.body == first.receipt.body
    assert counts(course.platform) == {"submission": 1, "receipt": 1, "attempt": 1}


def test_a_key_used_for_something_else_is_refused(course: HandinScene) -> None:
    course.hand_in(key="key-12345", content="x")
    with pytest.raises(Conflict) as refusal:
        course.hand_in(key="key-12345", content="y")
    assert refusal.value.reason == "key_reused"


def test_the_same_key_of_two_people_is_two_hand_ins(course: HandinScene) -> None:
    bob = make_student(course.platform, course.cohort, "bob")
    first = course.hand_in(key="key-12345", content="x")
    other = course.hand_in(bob, key="key-12345", content="x")
    assert first.submission.id != other.submission.id
    assert first.submission.tree_sha256 == other.submission.tree_sha256
    assert len(list(course.platform.folders.blobs.iterdir())) == 1
    assert len(list(course.platform.folders.trees.iterdir())) == 1


@pytest.mark.parametrize("store_kind", ["memory", "file"])
def test_retries_that_race_are_one_hand_in(tmp_path: Path, store_kind: str, store: Any) -> None:
    clock = FakeClock()
    used = store if store_kind == "file" else memory_store()
    course = make_handin_scene(make_platform(tmp_path / "data", clock=clock, store=used), clock)
    archives = [course.archive("x") for _ in range(8)]
    barrier = threading.Barrier(8)
    found: list[submissions.HandedIn] = []

    def retry(archive: Path) -> None:
        barrier.wait()
        found.append(course.hand_in(key="key-12345", archive=archive))

    run_together(lambda archive: retry(archive), archives)
    assert len(found) == 8
    assert len({handed.submission.id for handed in found}) == 1
    assert sum(not handed.again for handed in found) == 1
    assert counts(course.platform) == {"submission": 1, "receipt": 1, "attempt": 1}
    course.platform.store.close()


def run_together(work: Callable[[Path], None], items: list[Path]) -> None:
    threads = [threading.Thread(target=work, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Crash(BaseException):
    """The process dies here."""


def test_a_crash_at_any_statement_leaves_one_hand_in_after_the_retry(tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        clock = FakeClock()
        # In a file: a database in memory ends with the connection that the crash breaks.
        store = Store(f"sqlite:///{tmp_path / f'{step}.db'}")
        Base.metadata.create_all(store.engine)
        course = make_handin_scene(make_platform(tmp_path / f"data{step}", clock=clock, store=store), clock)
        course.hand_in(key="earlier-1", content="earlier")
        is_done = crash_once(course, step)
        handed = course.hand_in(key="key-12345", content="x")
        with course.platform.store.reading() as session:
            rows = list(session.scalars(select(Submission).where(Submission.idempotency_key == "key-12345")))
        assert [row.id for row in rows] == [handed.submission.id]
        assert handed.receipt is not None
        assert handed.attempt is not None
        key = submissions.key_of(course.platform)
        file = submissions.receipt_file(course.platform, handed.receipt)
        assert receipts.verify_file(file, {key.key_id: key.public}).is_trusted
        assert submissions.verify_stored(course.platform, caller_of(course.teacher), handed.submission.id) == []
        assert counts(course.platform) == {"submission": 2, "receipt": 2, "attempt": 2}
        course.platform.store.close()
        if is_done:
            break
    assert step > 15


def crash_once(course: HandinScene, step: int) -> bool:
    """Hand in, and die before the statement or commit number `step`; True when there were not so many."""
    seen = 0

    def die(*_: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            raise Crash

    engine = course.platform.store.engine
    event.listen(engine, "before_cursor_execute", die)
    event.listen(engine, "commit", die)
    try:
        course.hand_in(key="key-12345", content="x")
    except Crash:
        return False
    finally:
        event.remove(engine, "before_cursor_execute", die)
        event.remove(engine, "commit", die)
    return True


def test_a_crash_after_the_commit_is_no_second_hand_in(course: HandinScene) -> None:
    def die() -> None:
        raise Crash

    whole = course.platform
    course.platform = replace(whole, wake_worker=die)
    with pytest.raises(Crash):
        course.hand_in(key="key-12345", content="x")
    course.platform = whole
    assert course.hand_in(key="key-12345", content="x").again
    assert counts(course.platform) == {"submission": 1, "receipt": 1, "attempt": 1}


def test_a_disk_that_fails_between_tree_and_archive(course: HandinScene) -> None:
    blobs = course.platform.folders.blobs
    blobs.rename(blobs.with_name("away"))
    blobs.write_text("not a folder")
    with pytest.raises(OSError, match=r"blobs"):
        course.hand_in(key="key-12345", content="x")
    assert counts(course.platform)["submission"] == 0
    blobs.unlink()
    blobs.with_name("away").rename(blobs)
    handed = course.hand_in(key="key-12345", content="x")
    assert submissions.verify_stored(course.platform, caller_of(course.teacher), handed.submission.id) == []


def test_an_invalid_hand_in_is_recorded_told_and_not_charged(course: HandinScene) -> None:
    handed = course.hand_in(archive=wrong(course), key="key-12345")
    assert (handed.submission.state, handed.submission.charged) == ("invalid", False)
    assert handed.receipt is None
    assert handed.attempt is None
    assert handed.submission.refusal is not None
    assert handed.submission.refusal["reason"] == "missing_files"
    assert "README.MD" in handed.submission.refusal["zh"]
    assert course.hand_in(archive=wrong(course), key="key-12345").again
    assert list(course.platform.folders.blobs.iterdir()) == []
    assert submissions.tries(course.platform, caller_of(course.student), "ai", "lab1").left == 5
    with pytest.raises(NotFound):
        submissions.receipt_of(course.platform, caller_of(course.student), handed.submission.id)


def test_edited_bytes_are_found_and_the_tree_is_made_again(course: HandinScene) -> None:
    handed = course.hand_in()
    tree = submissions.tree_path(course.platform, handed.submission)
    (tree / "code" / "train.py").chmod(0o600)
    (tree / "code" / "train.py").write_text("evil")
    found = submissions.verify_stored(course.platform, caller_of(course.teacher), handed.submission.id)
    assert [text.zh for text in found] == ["code/train.py 和提交时不同"]
    rules = labfile.load(course.folder).handin
    submissions.ensure_tree(course.platform, handed.submission, rules)
    assert submissions.verify_stored(course.platform, caller_of(course.teacher), handed.submission.id) == []
    blob = course.platform.folders.blobs / handed.submission.archive_sha256
    blob.chmod(0o600)
    blob.write_bytes(b"evil")
    intake.remove(tree)
    with pytest.raises(QiankaError):
        submissions.ensure_tree(course.platform, handed.submission, rules)
    assert len(submissions.verify_stored(course.platform, caller_of(course.teacher), handed.submission.id)) == 3
    with pytest.raises(Forbidden):
        submissions.verify_stored(course.platform, caller_of(course.student), handed.submission.id)


def test_a_broken_lab_is_the_platforms_fault(course: HandinScene) -> None:
    (course.folder / "lab.toml").write_text("title = ", "utf-8")
    with pytest.raises(PlatformFault) as refusal:
        course.hand_in()
    assert refusal.value.reason == "broken_lab"


def test_what_nobody_handed_in_is_swept(course: HandinScene) -> None:
    handed = course.hand_in()
    orphan = course.platform.folders.blobs / ("0" * 64)
    orphan.write_bytes(b"x")
    long_ago = course.clock.now().timestamp() - 3 * 86_400
    for blob in course.platform.folders.blobs.iterdir():
        os.utime(blob, (long_ago, long_ago))
    assert submissions.sweep(course.platform) == 1
    assert [blob.name for blob in course.platform.folders.blobs.iterdir()] == [handed.submission.archive_sha256]
