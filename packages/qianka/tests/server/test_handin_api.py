"""Handing in over HTTP: streamed, idempotent, receipted; what breaks off leaves nothing."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from qianka import receipts
from qianka.server.app import create_app
from qianka.services import people
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]


def headers(key: str = "k" * 16, name: str = "作业.zip") -> dict[str, str]:
    return {"Idempotency-Key": key, "X-Filename": quote(name, safe=""), "Content-Type": "application/zip"}


def leftovers(platform: Platform) -> list[Path]:
    return list(platform.folders.incoming.iterdir())


def test_a_hand_in_is_stored_and_receipted(
    platform: Platform, classroom: Any, with_token: SignIn, archive: bytes
) -> None:
    alice = with_token(classroom.alice)
    answer = alice.post(f"{classroom.path}/submissions", content=archive, headers=headers())
    assert answer.status_code == 201
    told = answer.json()
    digest = hashlib.sha256(archive).hexdigest()
    assert told["submission"]["filename"] == "作业.zip"
    assert told["submission"]["archive_sha256"] == digest
    assert told["submission"]["state"] == "accepted"
    assert told["attempt"]["state"] == "queued"
    found = receipts.verify_file(told["receipt"])
    assert found.body["archive_sha256"] == digest
    again = alice.get(f"/api/submissions/{told['submission']['id']}/receipt")
    assert again.text == told["receipt"]
    assert "attachment" in again.headers["content-disposition"]
    assert alice.get(f"/api/submissions/{told['submission']['id']}/archive").content == archive
    assert leftovers(platform) == []


def test_the_same_key_is_the_same_hand_in(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice = with_token(classroom.alice)
    first, second = (alice.post(f"{classroom.path}/submissions", content=archive, headers=headers()) for _ in "12")
    assert first.json()["submission"]["id"] == second.json()["submission"]["id"]
    assert (first.json()["again"], second.json()["again"]) == (False, True)
    assert first.json()["receipt"] == second.json()["receipt"]
    bob = with_token(classroom.bob)  # a key is a person's own
    theirs = bob.post(f"{classroom.path}/submissions", content=archive, headers=headers())
    assert theirs.json()["submission"]["id"] != first.json()["submission"]["id"]


@pytest.mark.parametrize("key", [None, "short", "ü" * 20, "x" * 300])
def test_a_key_is_needed(
    platform: Platform, classroom: Any, with_token: SignIn, archive: bytes, key: str | None
) -> None:
    given = {} if key is None else {b"idempotency-key": key.encode()}
    answer = with_token(classroom.alice).post(f"{classroom.path}/submissions", content=archive, headers=given)
    assert answer.status_code == 400
    assert answer.json()["details"]["reason"] == "no_idempotency_key"
    assert leftovers(platform) == []


def test_a_broken_rule_is_told_and_costs_nothing(
    platform: Platform, classroom: Any, with_token: SignIn, zip_of: Callable[[dict[str, str]], bytes]
) -> None:
    alice = with_token(classroom.alice)
    answer = alice.post(f"{classroom.path}/submissions", content=zip_of({"Code/train.py": "x"}), headers=headers())
    told = answer.json()
    assert answer.status_code == 201
    assert told["submission"]["state"] == "invalid"
    assert told["receipt"] is None
    assert told["submission"]["refusal"]["message"]
    assert alice.get(classroom.path).json()["tries"]["used"] == 0
    assert leftovers(platform) == []


def test_too_much_is_refused_while_it_streams(
    platform: Platform, classroom: Any, tmp_path: Path, archive: bytes
) -> None:
    small = Settings(data_dir=platform.settings.data_dir, server_upload_mb=1)
    served = Platform(settings=small, store=platform.store)
    token = people.issue_token(platform, factories.caller_of(classroom.alice)).secret
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(50):
            sent += 100_000
            yield b"x" * 100_000

    with TestClient(create_app(small, served), "http://localhost", raise_server_exceptions=False) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        unknown = client.post(f"{classroom.path}/submissions", content=body(), headers=headers())
        announced = client.post(f"{classroom.path}/submissions", content=b"x" * 1_000_001, headers=headers())
    for answer in (unknown, announced):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert leftovers(platform) == []


def test_an_empty_upload_is_refused(classroom: Any, with_token: SignIn) -> None:
    answer = with_token(classroom.alice).post(f"{classroom.path}/submissions", content=b"", headers=headers())
    assert answer.json()["details"]["reason"] == "empty_upload"


def test_a_file_name_is_only_a_name(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice = with_token(classroom.alice)
    sent = headers(name="../../etc/\x1b[31mpasswd\n.zip")
    answer = alice.post(f"{classroom.path}/submissions", content=archive, headers=sent)
    assert answer.json()["submission"]["filename"] == "[31mpasswd.zip"


def test_what_is_anothers_is_not_there(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice, bob = with_token(classroom.alice), with_token(classroom.bob)
    told = alice.post(f"{classroom.path}/submissions", content=archive, headers=headers()).json()
    submission, attempt = told["submission"]["id"], told["attempt"]["id"]
    paths = [
        f"/api/submissions/{submission}",
        f"/api/submissions/{submission}/receipt",
        f"/api/submissions/{submission}/archive",
        f"/api/submissions/{submission}/attempts",
        f"/api/attempts/{attempt}",
        f"/api/attempts/{attempt}/feedback",
        f"/api/attempts/{attempt}/feedback.html",
        f"/api/attempts/{attempt}/metrics",
        f"/api/events?topics=attempt:{attempt}",
    ]
    for path in paths:
        assert bob.get(path).status_code == 404, path
    assert bob.get(f"{classroom.path}/submissions?everybody=true").status_code == 403
    assert bob.get(f"{classroom.path}/submissions").json()["items"] == []
    teacher = with_token(classroom.teacher)
    assert teacher.get(f"/api/submissions/{submission}").json()["login"] == "alice"
    assert len(teacher.get(f"{classroom.path}/submissions?everybody=true").json()["items"]) == 1


def test_pages_of_hand_ins_follow_each_other(classroom: Any, with_token: SignIn, zip_of: Any) -> None:
    teacher = with_token(classroom.teacher)  # no limit of tries
    made = []
    for number in range(5):
        files = {"code/train.py": str(number), "code/predict.py": "", "README.md": "x"}
        key = f"key-{number:012}"
        answer = teacher.post(f"{classroom.path}/submissions", content=zip_of(files), headers=headers(key))
        made.append(answer.json()["submission"]["id"])
    seen, after = [], None
    while True:
        query = "" if after is None else f"&after={after}"
        page = teacher.get(f"{classroom.path}/submissions?limit=2{query}").json()
        assert len(page["items"]) <= 2
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == made[::-1]


def test_leftovers_of_a_killed_server_are_removed_at_the_next_start(platform: Platform, app: FastAPI) -> None:
    torn = platform.folders.incoming / "u-0123456789"
    torn.write_bytes(b"half an upload")
    arriving = platform.folders.incoming / "u-9876543210"
    with open(arriving, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # another server process is receiving it
        with TestClient(app, base_url="http://localhost"):
            assert not torn.exists()
            assert arriving.exists()


def test_an_edit_of_the_stored_bytes_is_found(
    platform: Platform, classroom: Any, with_token: SignIn, archive: bytes
) -> None:
    alice, teacher = with_token(classroom.alice), with_token(classroom.teacher)
    told = alice.post(f"{classroom.path}/submissions", content=archive, headers=headers()).json()
    path = f"/api/submissions/{told['submission']['id']}/verify"
    assert alice.post(path).status_code == 403
    assert teacher.post(path).json() == []
    blob = next(file for file in platform.folders.blobs.rglob("*") if file.is_file())
    blob.chmod(0o600)
    blob.write_bytes(archive + b"x")
    assert teacher.post(path).json() != []
