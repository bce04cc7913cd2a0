"""What administrators see and do over HTTP: the audit log, and cohorts at the end of their term."""

from __future__ import annotations

import pytest
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

from .conftest import Classroom, SignIn


@pytest.fixture
def admin(platform: Platform) -> Person:
    return factories.make_person(platform, "root1", admin=True, name="管理员甲")


def test_every_change_is_in_the_log_with_who_and_from_where(
    admin: Person, classroom: Classroom, with_token: SignIn
) -> None:
    teacher = with_token(classroom.teacher)
    assert teacher.patch(f"/api/cohorts/{classroom.cohort.slug}", json={"title": "改名"}).status_code == 200
    (line,) = with_token(admin).get("/api/audit", params={"action": "cohort.change"}).json()["items"]
    assert (line["login"], line["target"]) == ("teacher", f"cohort:{classroom.cohort.slug}")
    assert line["details"]["after"] == {"title": "改名"}
    assert line["address"] == "testclient"


def test_a_failed_sign_in_is_found_by_the_name_that_was_tried(
    admin: Person, anonymous: TestClient, with_token: SignIn
) -> None:
    anonymous.post("/api/auth/login", json={"login": "nobody_50%", "password": "a secret guess"})
    found = with_token(admin).get("/api/audit", params={"words": "nobody_50%"}).json()["items"]
    assert [(line["action"], line["login"]) for line in found] == [("sign_in.failed", "")]
    assert "a secret guess" not in str(found)
    assert with_token(admin).get("/api/audit", params={"words": "nobodyX50"}).json()["items"] == []


def test_the_log_is_read_in_parts_and_none_is_read_twice(
    admin: Person, classroom: Classroom, with_token: SignIn
) -> None:
    client = with_token(admin)
    whole = client.get("/api/audit").json()["items"]
    parts, after = [], None
    while True:
        page = client.get("/api/audit", params={"limit": 2, **({"after": after} if after else {})}).json()
        parts += page["items"]
        after = page["next"]
        if after is None:
            break
    assert [line["id"] for line in parts] == [line["id"] for line in whole]
    assert [line["id"] for line in whole] == sorted((line["id"] for line in whole), reverse=True)


def test_the_log_is_for_administrators(classroom: Classroom, with_token: SignIn) -> None:
    for person in (classroom.teacher, classroom.alice):
        assert with_token(person).get("/api/audit").status_code == 403


def test_a_cohort_that_was_put_away_is_read_and_takes_no_more_work(
    admin: Person, classroom: Classroom, with_token: SignIn, archive: bytes
) -> None:
    away = f"/api/cohorts/{classroom.cohort.slug}/archived"
    assert with_token(classroom.teacher).put(away, json={"archived": True}).status_code == 403
    assert with_token(admin).put(away, json={"archived": True}).json()["archived_at"] is not None
    alice = with_token(classroom.alice)
    assert [one["state"] for one in alice.get("/api/me").json()["cohorts"]] == ["archived"]
    assert alice.get(classroom.path).status_code == 200
    hand_in = {"headers": {"Idempotency-Key": "k" * 16, "X-Filename": "a.zip"}, "content": archive}
    refused = alice.post(f"{classroom.path}/submissions", **hand_in)  # type: ignore[arg-type]
    assert (refused.status_code, refused.json()["details"]["reason"]) == (409, "archived")
    assert with_token(admin).put(away, json={"archived": False}).json()["archived_at"] is None
    assert alice.post(f"{classroom.path}/submissions", **hand_in).status_code == 201  # type: ignore[arg-type]
