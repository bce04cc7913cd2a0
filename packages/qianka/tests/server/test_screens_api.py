"""Projectors: what their token opens, and that nobody stands there by name."""

from __future__ import annotations

import pytest
from qianka.services.platform import Platform
from qianka.store.tables import Person, Screen
from qianka.testing import factories
from starlette.testclient import TestClient

from .conftest import Classroom, SignIn

SCENES = ["board", "queue", "deadlines", "top", "jobs"]


@pytest.fixture
def token(classroom: Classroom, with_token: SignIn) -> str:
    """The token of a projector that shows everything, at any time."""
    made = with_token(classroom.teacher).post(
        f"/api/cohorts/{classroom.cohort.slug}/screens", json={"name": "A101", "scenes": SCENES, "always": True}
    )
    assert made.status_code == 201
    return str(made.json()["secret"])


def look(client: TestClient, token: str) -> dict[str, object]:
    answer = client.get("/api/screen", headers={"X-Screen-Token": token})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_projector_shows_people_by_alias_even_those_who_show_their_name(
    platform: Platform, classroom: Classroom, anonymous: TestClient, token: str
) -> None:
    with platform.store.transaction() as session:
        for person_id in (classroom.alice.id, classroom.bob.id):
            person = session.get(Person, person_id)
            assert person is not None
            person.show_name = True
    job = factories.make_job(platform, classroom.alice, cohort=classroom.cohort)
    shown = look(anonymous, token)
    # The teacher's is the one that prepares the lab that was published.
    assert [line["name"] for line in shown["queue"]] == [classroom.teacher.alias, classroom.alice.alias]  # type: ignore[attr-defined, index]
    assert shown["waiting"] == 2
    whole = str(shown)
    for person in (classroom.alice, classroom.bob, classroom.teacher):
        for secret in (person.name, person.login, person.student_number):
            assert str(secret) not in whole
    assert job.id not in whole


def test_the_token_opens_nothing_else(classroom: Classroom, anonymous: TestClient, token: str) -> None:
    for headers in ({"Authorization": f"Bearer {token}"}, {"X-Screen-Token": token}):
        assert anonymous.get(f"/api/cohorts/{classroom.cohort.slug}/grades", headers=headers).status_code == 401
        assert anonymous.get("/api/me", headers=headers).status_code == 401


def test_a_revoked_link_works_no_more(
    platform: Platform, classroom: Classroom, anonymous: TestClient, with_token: SignIn, token: str
) -> None:
    teacher = with_token(classroom.teacher)
    place = f"/api/cohorts/{classroom.cohort.slug}/screens"
    (listed,) = teacher.get(place).json()
    assert "secret" not in listed
    with platform.store.reading() as session:
        (row,) = session.query(Screen)
    assert token not in str(vars(row))
    assert teacher.delete(f"{place}/{listed['id']}").status_code == 204
    assert anonymous.get("/api/screen", headers={"X-Screen-Token": token}).status_code == 401
    assert teacher.get(place).json() == []


def test_projectors_are_made_by_the_staff_of_the_cohort_alone(
    platform: Platform, classroom: Classroom, with_token: SignIn
) -> None:
    place = f"/api/cohorts/{classroom.cohort.slug}/screens"
    assert with_token(classroom.alice).post(place, json={}).status_code == 403
    other = factories.make_cohort(platform, "other")
    stranger = factories.make_person(platform)
    factories.enroll(platform, other, stranger, factories.Role.TEACHER)
    assert with_token(stranger).post(place, json={}).status_code == 404


def test_only_jobs_of_the_cohort_are_compared(platform: Platform, classroom: Classroom, with_token: SignIn) -> None:
    other = factories.make_cohort(platform, "other")
    foreign = factories.make_job(platform, factories.make_student(platform, other), cohort=other)
    place = f"/api/cohorts/{classroom.cohort.slug}/screens"
    refused = with_token(classroom.teacher).post(place, json={"scenes": ["jobs"], "jobs": [foreign.id]})
    assert refused.status_code in (400, 404)
    bad = with_token(classroom.teacher).post(place, json={"scenes": ["secrets"]})
    assert (bad.status_code, bad.json()["details"]["reason"]) == (400, "scenes")
