"""Uploads in pieces: gone on with after a break, handed in once, nobody else's business."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka import receipts
from qianka.services import uploads
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import caller_of
from qianka.testing.clock import FakeClock
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]


def begin(client: TestClient, classroom: Any, data: bytes) -> str:
    answer = client.post(f"{classroom.path}/uploads", json={"filename": "作业.zip", "size": len(data)})
    assert answer.status_code == 201, answer.text
    assert answer.json()["received"] == 0
    return str(answer.json()["id"])


def send(client: TestClient, upload: str, offset: int, piece: bytes) -> Any:
    return client.put(f"/api/uploads/{upload}", params={"offset": offset}, content=piece)


def test_an_upload_goes_on_where_it_broke_off(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice = with_token(classroom.alice)
    upload = begin(alice, classroom, archive)
    half = len(archive) // 2
    assert send(alice, upload, 0, archive[:half]).json()["received"] == half
    # The answer was lost: the same piece once more, then one too far, then where it really is.
    assert send(alice, upload, 0, archive[:half]).json()["received"] == half
    gap = send(alice, upload, half + 1, archive[half + 1 :])
    assert (gap.status_code, gap.json()["details"]["received"]) == (409, half)
    early = alice.post(f"/api/uploads/{upload}/submission")
    assert (early.status_code, early.json()["details"]["reason"]) == (409, "incomplete")
    assert alice.get(f"/api/uploads/{upload}").json()["received"] == half
    assert send(alice, upload, half, archive[half:]).json()["received"] == len(archive)

    handed = alice.post(f"/api/uploads/{upload}/submission")
    assert handed.status_code == 201, handed.text
    told = handed.json()
    assert (told["submission"]["state"], told["submission"]["filename"]) == ("accepted", "作业.zip")
    assert hashlib.sha256(archive).hexdigest() == receipts.verify_file(told["receipt"]).body["archive_sha256"]
    again = alice.post(f"/api/uploads/{upload}/submission").json()
    assert (again["again"], again["submission"]["id"]) == (True, told["submission"]["id"])
    assert alice.get(f"/api/uploads/{upload}").status_code == 404


def test_handing_in_twice_at_once_is_one_hand_in(
    classroom: Any, with_token: SignIn, archive: bytes, platform: Platform
) -> None:
    alice = with_token(classroom.alice)
    upload = begin(alice, classroom, archive)
    send(alice, upload, 0, archive)
    both = threading.Barrier(2, timeout=10)

    def press() -> str:
        both.wait()
        return uploads.hand_in(platform, caller_of(classroom.alice), upload).submission.id

    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(press) for _ in range(2))
        assert first.result() == second.result()


def test_bytes_beyond_the_announced_size_are_refused(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice = with_token(classroom.alice)
    upload = begin(alice, classroom, archive)
    assert send(alice, upload, 0, archive + b"x").json()["details"]["reason"] == "beyond"
    assert send(alice, upload, 0, b"x" * (uploads.PIECE + 1)).status_code in (400, 413)


def test_a_crash_between_disk_and_database_loses_and_doubles_nothing(
    classroom: Any, with_token: SignIn, archive: bytes, platform: Platform
) -> None:
    alice = with_token(classroom.alice)
    upload = begin(alice, classroom, archive)
    with uploads.place(platform, upload).open("r+b") as file:
        file.write(b"what a killed server wrote and never acknowledged" * 100)
    assert send(alice, upload, 0, archive).json()["received"] == len(archive)
    assert alice.post(f"/api/uploads/{upload}/submission").json()["submission"]["state"] == "accepted"


def test_an_upload_is_its_owners_alone(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    alice, bob = with_token(classroom.alice), with_token(classroom.bob)
    upload = begin(alice, classroom, archive)
    assert bob.get(f"/api/uploads/{upload}").status_code == 404
    assert send(bob, upload, 0, archive).status_code == 404
    assert bob.post(f"/api/uploads/{upload}/submission").status_code == 404
    assert bob.delete(f"/api/uploads/{upload}").status_code == 404
    assert send(alice, "..%2f..%2fetc", 0, b"x").status_code == 404
    assert alice.delete(f"/api/uploads/{upload}").status_code == 204
    assert send(alice, upload, 0, archive).status_code == 404


def test_an_upload_whose_bytes_are_gone_begins_anew(
    classroom: Any, with_token: SignIn, archive: bytes, platform: Platform
) -> None:
    alice = with_token(classroom.alice)
    upload = begin(alice, classroom, archive)
    uploads.place(platform, upload).unlink()
    for answer in (alice.get(f"/api/uploads/{upload}"), send(alice, upload, 0, archive)):
        assert (answer.status_code, answer.json()["details"]["reason"]) == (404, "no_upload")


@pytest.mark.parametrize(("size", "status"), [(0, 400), (10**9, 413)])
def test_a_size_that_cannot_be_is_told_at_once(classroom: Any, with_token: SignIn, size: int, status: int) -> None:
    answer = with_token(classroom.alice).post(f"{classroom.path}/uploads", json={"filename": "a.zip", "size": size})
    assert answer.status_code == status


def test_forgotten_uploads_leave_no_bytes(
    classroom: Any, with_token: SignIn, archive: bytes, platform: Platform
) -> None:
    alice = with_token(classroom.alice)
    oldest = begin(alice, classroom, archive)
    for _ in range(uploads.AT_ONCE):
        begin(alice, classroom, archive)
    assert alice.get(f"/api/uploads/{oldest}").status_code == 404
    assert len(_files(platform)) == uploads.AT_ONCE
    later = replace(platform, clock=FakeClock(platform.now() + uploads.LIFE))
    bob = caller_of(classroom.bob)
    uploads.start(later, bob, classroom.cohort.slug, classroom.lab.slug, filename="a.zip", size=9)
    assert len(_files(platform)) == 1


def _files(platform: Platform) -> list[Path]:
    return list(platform.folders.incoming.glob("piecewise-*"))
