"""Dates and extensions over HTTP: previews, one's own date, refusals, who sees what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from qianka.services.platform import Platform
from qianka.store.tables import Extension

if TYPE_CHECKING:
    from qianka.store.tables import Person
    from starlette.testclient import TestClient

    from .conftest import Classroom  # type: ignore[import-not-found]

    SignIn = Callable[[Person], TestClient]


def test_a_teacher_sets_dates_and_each_sees_their_own(with_token: SignIn, classroom: Classroom) -> None:
    teacher, alice, bob = (with_token(who) for who in (classroom.teacher, classroom.alice, classroom.bob))
    due = {"due": "2030-12-20T23:59:00+08:00", "locks": "2030-12-27T23:59:00+08:00"}
    told = teacher.put(f"{classroom.path}/dates", json={**due, "preview": True})
    assert told.status_code == 200
    assert teacher.get(f"{classroom.path}/dates").json()["due_at"] is None
    assert teacher.put(f"{classroom.path}/dates", json=due).json()["moves"] == []
    given = {"lab": classroom.lab.slug, "login": "alice", "days": 2, "reason": "ill"}
    made = teacher.post(f"/api/cohorts/{classroom.cohort.slug}/extensions", json=given)
    assert made.status_code == 201
    assert made.json()["extension"]["more"] == "+2 d"
    mine, theirs = (one.get(f"{classroom.path}/dates").json() for one in (alice, bob))
    assert mine["due_at"].startswith("2030-12-22T15:59")
    assert mine["locks_at"].startswith("2030-12-29T15:59")
    assert "2030-12-22 23:59 (UTC+08:00)" in mine["sentence"]
    assert "ill" in mine["sentence"]
    assert "CST" not in mine["sentence"]
    assert (theirs["due_at"][:16], theirs["extension"]) == ("2030-12-20T15:59", None)
    assert alice.get(classroom.path).json()["mine"]["due_at"] == mine["due_at"]
    (listed,) = alice.get(f"/api/cohorts/{classroom.cohort.slug}/labs").json()
    assert listed["mine"]["due_at"] == mine["due_at"]
    page = alice.get(f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}")
    assert page.status_code in (200, 303)


def test_a_date_not_sent_stays_and_null_lifts_it(with_token: SignIn, classroom: Classroom) -> None:
    teacher = with_token(classroom.teacher)
    path = f"{classroom.path}/dates"
    teacher.put(path, json={"due": "2030-12-20T23:59:00+08:00"})
    assert teacher.put(path, json={"locks": "2030-12-21T00:00:00+08:00"}).json()["due_at"] is not None
    assert teacher.put(path, json={"locks": None}).json()["locks_at"] is None
    assert teacher.put(path, json={"due": None}).json()["due_at"] is None
    naive = teacher.put(path, json={"due": "2030-12-20T23:59:00"})
    assert (naive.status_code, naive.json()["details"]["reason"]) == (400, "naive_time")
    assert teacher.put(path, json={"dew": None}).status_code == 400


def test_a_student_gives_and_sees_no_extensions(with_token: SignIn, classroom: Classroom, platform: Platform) -> None:
    alice, teacher = with_token(classroom.alice), with_token(classroom.teacher)
    path = f"/api/cohorts/{classroom.cohort.slug}/extensions"
    given = {"lab": classroom.lab.slug, "login": "alice", "days": 2, "reason": "please"}
    assert alice.post(path, json=given).status_code == 403
    assert alice.get(path).status_code == 403
    assert alice.get(f"{classroom.path}/dates", params={"login": "bob"}).status_code in (403, 404)
    assert alice.get(f"{classroom.path}/grade-changes", params={"login": "bob"}).status_code in (403, 404)
    assert alice.put(f"{classroom.path}/dates", json={"due": None}).status_code == 403
    assert alice.put(f"/api/cohorts/{classroom.cohort.slug}/late-days", json={"days": 9}).status_code == 403
    made = teacher.post(path, json=given).json()["extension"]["id"]
    assert alice.post(f"{path}/{made}/revoke", json={"reason": "x"}).status_code == 404
    told = teacher.post(f"{path}/{made}/revoke", json={"reason": "x", "preview": True})
    assert told.json()["preview"] is True
    assert teacher.post(f"{path}/{made}/revoke", json={"reason": "x"}).status_code == 200
    with platform.store.reading() as session:
        assert session.get(Extension, made).revoked_at is not None  # type: ignore[union-attr]


def test_late_days_of_a_cohort(with_token: SignIn, classroom: Classroom) -> None:
    teacher = with_token(classroom.teacher)
    path = f"/api/cohorts/{classroom.cohort.slug}/late-days"
    assert teacher.put(path, json={"days": 5, "preview": True}).json()["days"] == 0
    assert teacher.put(path, json={"days": 5}).json()["days"] == 5
    assert teacher.put(path, json={"days": -1}).status_code == 400
    assert with_token(classroom.alice).get(f"{classroom.path}/dates").json()["late_days"] == 5
