"""Receipts: one key for all who start at once, any edited byte seen, verified without a network."""

from __future__ import annotations

import json
import stat
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qianka import receipts
from qianka.errors import ConfigError, Refused

SHA = "a" * 64


def body(**changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "receipt": "r-1",
        "submission": "s-1",
        "platform": "Qianka",
        "login": "2023001",
        "student_number": "2023001",
        "cohort": "ai-2026",
        "lab": "lab1",
        "submitted_at": datetime(2026, 9, 7, 1, 2, 3, 456000, tzinfo=timezone.utc),
        "is_late": False,
        "filename": "作业 1.zip",
        "size": 1234,
        "archive_sha256": SHA,
        "tree_sha256": SHA,
        "files": [{"path": "code/训练.py", "size": 12, "sha256": SHA}],
        "notes": [{"zh": "去掉了最外层文件夹 hw1/", "en": "took off hw1/"}],
    }
    return receipts.make_body(**{**facts, **changes})


@pytest.fixture
def key(tmp_path: Path) -> receipts.Key:
    return receipts.load_or_make_key(tmp_path / "secrets" / "receipt.pem")


@pytest.fixture
def file(key: receipts.Key) -> str:
    signed = receipts.sign(key, body())
    return receipts.render(signed.body, signed.signature, key.public)


def test_a_receipt_is_verified_offline(key: receipts.Key, file: str) -> None:
    verified = receipts.verify_file(file, {key.key_id: key.public})
    assert verified.is_trusted
    assert verified.body["person"] == {"login": "2023001", "student_number": "2023001"}
    assert verified.body["submitted_at"] == "2026-09-07T01:02:03.456+00:00"
    assert verified.key_id == key.key_id


def test_an_unknown_key_is_good_but_not_trusted(file: str) -> None:
    assert not receipts.verify_file(file, {}).is_trusted


@given(data=st.data())
def test_any_edited_character_is_seen(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    file, keys = _fixed(tmp_path_factory)
    at = data.draw(st.integers(0, len(file) - 2))
    new = data.draw(st.characters(exclude_characters=file[at], exclude_categories=["Cs"]))
    if new == "\r" and file[at + 1] == "\n":
        return  # becomes a line end of another system
    with pytest.raises(Refused):
        receipts.verify_file(file[:at] + new + file[at + 1 :], keys)


@given(data=st.data())
def test_any_character_taken_out_is_seen(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    file, keys = _fixed(tmp_path_factory)
    at = data.draw(st.integers(0, len(file) - 2))
    with pytest.raises(Refused):
        receipts.verify_file(file[:at] + file[at + 1 :], keys)


_MADE: list[tuple[str, dict[str, str]]] = []


def _fixed(factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    if not _MADE:
        key = receipts.load_or_make_key(factory.mktemp("key") / "receipt.pem")
        signed = receipts.sign(key, body())
        _MADE.append((receipts.render(signed.body, signed.signature, key.public), {key.key_id: key.public}))
    return _MADE[0]


def test_line_ends_of_a_mail_program_do_not_matter(key: receipts.Key, file: str) -> None:
    assert receipts.verify_file("\ufeff" + file.replace("\n", "\r\n"), {key.key_id: key.public}).is_trusted


def test_a_forger_with_another_key_is_not_trusted(key: receipts.Key, tmp_path: Path) -> None:
    forger = receipts.load_or_make_key(tmp_path / "forger.pem")
    signed = receipts.sign(forger, body(login="alice"))
    file = receipts.render(signed.body, signed.signature, forger.public)
    assert not receipts.verify_file(file, {key.key_id: key.public}).is_trusted
    whole = json.loads(file)
    whole["key_id"] = key.key_id
    with pytest.raises(Refused):
        receipts.verify_file(json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=False), {key.key_id: key.public})


def test_a_replayed_receipt_shows_its_submission_and_time(key: receipts.Key) -> None:
    old = receipts.sign(key, body())
    new = receipts.sign(key, body(receipt="r-2", submission="s-2"))
    shown = [receipts.verify_file(receipts.render(s.body, s.signature, key.public)).body for s in (old, new)]
    assert [facts["submission"] for facts in shown] == ["s-1", "s-2"]


def test_differences_of_files_are_named() -> None:
    facts = body(files=[{"path": "a.py", "size": 1, "sha256": SHA}, {"path": "b.py", "size": 1, "sha256": SHA}])
    now = [{"path": "a.py", "sha256": "b" * 64}, {"path": "c.py", "sha256": SHA}]
    assert [text.zh for text in receipts.differences(facts, now)] == ["a.py 被改过", "缺少 b.py", "多出 c.py"]
    assert receipts.differences(facts, facts["files"]) == []


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"body": 1}', "[" * 100_000, '{"body":{"format":1}}'])
def test_what_is_no_receipt_is_said_to_be_none(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        receipts.verify_file(text)
    assert refusal.value.reason == "no_receipt"


def test_the_key_is_made_once_and_for_the_service_alone(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "receipt.pem"
    barrier = threading.Barrier(8)
    ids: list[str] = []

    def start() -> None:
        barrier.wait()
        ids.append(receipts.load_or_make_key(path).key_id)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8
    assert len(set(ids)) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["receipt.pem"]


def test_a_damaged_key_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "receipt.pem"
    path.write_text("no key")
    with pytest.raises(ConfigError):
        receipts.load_or_make_key(path)
    assert path.read_text() == "no key"
