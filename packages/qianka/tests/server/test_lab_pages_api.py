"""What the pages of a lab ask for: handout and pictures, hand-ins of the whole cohort, two gradings compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qianka.domain.jobs import JobKind
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing.factories import make_job
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]


def hand_in(client: TestClient, classroom: Any, data: bytes, key: str) -> dict[str, Any]:
    headers = {"Idempotency-Key": key, "X-Filename": "mine.zip"}
    answer = client.post(f"{classroom.path}/submissions", content=data, headers=headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_handout_is_the_readme_of_the_lab(classroom: Any, with_token: SignIn) -> None:
    told = with_token(classroom.alice).get(f"{classroom.path}/handout").json()
    assert told["text"].startswith("# ")
    assert told["base"] == f"{classroom.path}/pictures/"


@pytest.mark.parametrize(
    "name", ["lab.toml", "../lab.toml", "solution/secret.png", "starter/../solution/secret.png", "tests/a.png"]
)
def test_nothing_but_open_pictures_comes_out_of_a_lab(
    classroom: Any, with_token: SignIn, platform: Platform, name: str
) -> None:
    from qianka.services.versions import version_folder

    source = version_folder(platform, classroom.cohort.slug, classroom.lab.slug, classroom.lab.version).source
    (source / "images").mkdir(exist_ok=True)
    for folder in ("images", "solution", "tests"):
        (source / folder).mkdir(exist_ok=True)
        (source / folder / "secret.png").write_bytes(b"\x89PNG")
    alice = with_token(classroom.alice)
    assert alice.get(f"{classroom.path}/pictures/images/secret.png").headers["content-type"] == "image/png"
    assert alice.get(f"{classroom.path}/pictures/{name.replace('/', '%2F')}").status_code == 404


def test_staff_finds_hand_ins_of_the_cohort(
    classroom: Any, with_token: SignIn, archive: bytes, zip_of: Callable[[dict[str, str]], bytes]
) -> None:
    alice, bob, teacher = (with_token(one) for one in (classroom.alice, classroom.bob, classroom.teacher))
    good = hand_in(alice, classroom, archive, "key-of-alice")["submission"]["id"]
    bad = hand_in(bob, classroom, zip_of({"nothing.txt": "x"}), "key-of-bob-1")["submission"]["id"]
    path = f"/api/cohorts/{classroom.cohort.slug}/submissions"

    def found(**params: str) -> list[str]:
        return [one["id"] for one in teacher.get(path, params=params).json()["items"]]

    assert found() == [bad, good]
    assert found(words="ALI") == [good]
    assert found(words="%") == []
    assert found(verdict="invalid") == [bad]
    assert found(verdict="waiting") == [good]
    assert found(verdict="accepted") == []
    assert found(lab=classroom.lab.slug, section="none") == []
    assert found(limit="1") == [bad]
    assert found(after=bad) == [good]
    assert alice.get(path).status_code == 403


def test_two_gradings_are_compared_with_their_code(
    classroom: Any, with_token: SignIn, archive: bytes, zip_of: Callable[[dict[str, str]], bytes]
) -> None:
    alice, bob, teacher = (with_token(one) for one in (classroom.alice, classroom.bob, classroom.teacher))
    first = hand_in(alice, classroom, archive, "key-of-alice")["attempt"]["id"]
    other = {
        "code/train.py": "print(7)\n",
        "code/predict.py": "print(2)\n",
        "README.md": "# mine\n",
        "code/new.py": "x = 1\n",
    }
    second = hand_in(alice, classroom, zip_of(other), "key-of-alice-2")["attempt"]["id"]
    told = teacher.get(f"/api/attempts/{first}/compare/{second}").json()
    assert [(one["path"], one["what"]) for one in told["files"]] == [
        ("code/new.py", "added"),
        ("code/train.py", "changed"),
    ]
    assert "-print(1)" in told["files"][1]["diff"]
    assert "+print(7)" in told["files"][1]["diff"]
    assert len(told["submissions"]) == 2
    assert alice.get(f"/api/attempts/{first}/compare/{second}").status_code == 200
    assert bob.get(f"/api/attempts/{first}/compare/{second}").status_code == 404


def test_a_receipt_file_is_checked_and_any_edited_byte_shows(
    classroom: Any, with_token: SignIn, archive: bytes
) -> None:
    alice, bob = with_token(classroom.alice), with_token(classroom.bob)
    handed = hand_in(alice, classroom, archive, "key-of-alice")
    told = bob.post("/api/receipts/verify", json={"text": handed["receipt"]}).json()
    assert (told["ours"], told["submission"], told["login"]) == (True, handed["submission"]["id"], "alice")
    assert told["archive_sha256"] == handed["submission"]["archive_sha256"]
    assert {file["path"] for file in told["files"]} >= {"code/train.py"}
    edited = handed["receipt"].replace('"late": false', '"late": true')
    for text, reason in ((edited, "bad_signature"), ("{}", "no_receipt")):
        refused = bob.post("/api/receipts/verify", json={"text": text})
        assert refused.status_code >= 400
        assert refused.json()["details"]["reason"] == reason


def test_a_hand_in_names_its_lab_and_the_zone_of_its_cohort(classroom: Any, with_token: SignIn, archive: bytes) -> None:
    told = hand_in(with_token(classroom.alice), classroom, archive, "key-of-alice")["submission"]
    assert (told["zone"], told["lab_title"]) == (classroom.cohort.zone, classroom.lab.title)


def test_a_lab_tells_how_large_a_hand_in_may_be(classroom: Any, with_token: SignIn, platform: Platform) -> None:
    limit = with_token(classroom.alice).get(classroom.path).json()["upload_limit"]
    assert 0 < limit <= platform.settings.server_upload_mb * 1_000_000


def test_of_the_stages_students_may_read_what_training_printed(
    classroom: Any, with_token: SignIn, archive: bytes, platform: Platform
) -> None:
    alice, teacher = with_token(classroom.alice), with_token(classroom.teacher)
    attempt = hand_in(alice, classroom, archive, "key-of-alice")["attempt"]["id"]
    for name in ("train", "predict"):
        fields = {"kind": JobKind.GRADE, "name": name, "attempt_id": attempt, "key": f"{attempt}:{name}"}
        make_job(platform, classroom.alice, cohort=classroom.cohort, **fields)
    path = f"/api/attempts/{attempt}"
    assert {job["name"]: job["output"] for job in alice.get(path).json()["jobs"]} == {"train": True, "predict": False}
    assert all(job["output"] for job in teacher.get(path).json()["jobs"])


def test_pages_hear_of_new_dates_and_of_a_new_version(classroom: Any, with_token: SignIn, platform: Platform) -> None:
    alice, teacher = with_token(classroom.alice), with_token(classroom.teacher)

    def heard() -> list[str]:
        topics = f"me,cohort:{classroom.cohort.slug}"
        found = alice.get("/api/events/recent", params={"topics": topics, "after": seen}).json()
        return [event["kind"] for event in found]

    seen = alice.get("/api/me").json()["cursor"]
    teacher.patch(classroom.path, json={"due": "2031-01-01T00:00:00+08:00"})
    assert heard() == ["dates"]
    seen = alice.get("/api/me").json()["cursor"]
    extension = {"lab": classroom.lab.slug, "login": "alice", "days": 2, "reason": "ill"}
    given = teacher.post(f"/api/cohorts/{classroom.cohort.slug}/extensions", json=extension)
    assert given.status_code < 300, given.text
    assert heard() == ["dates"]
