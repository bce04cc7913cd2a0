"""Who hears of what: oneself, one's cohort, its staff; by the stream and by asking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qianka.errors import BadInput, Forbidden, NotFound
from qianka.schemas.events import Event
from qianka.server.topics import Topics
from qianka.services import events
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]


def recent(client: TestClient, topics: str, after: int = 0) -> list[tuple[str, str]]:
    answer = client.get("/api/events/recent", params={"topics": topics, "after": after})
    assert answer.status_code == 200, answer.text
    return [(event["topic"], event["kind"]) for event in answer.json()]


def test_me_is_oneself_and_nobody_else(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    alice, bob = in_browser(classroom.alice), in_browser(classroom.bob)
    since = alice.get("/api/me").json()["cursor"]
    with platform.store.transaction() as session:
        events.emit_for_person(session, platform, classroom.alice.id, "job", job="j-1")
    assert recent(alice, "me", since) == [("me", "job")]
    assert recent(bob, "me", since) == []
    number = f"person:{classroom.alice.id}"
    assert bob.get("/api/events/recent", params={"topics": number, "after": 0}).status_code == 404


def test_a_cohort_is_for_its_people_and_the_staff_topic_for_its_staff(platform: Platform, classroom: Any) -> None:
    slug = classroom.cohort.slug
    stranger = factories.make_person(platform, "stranger")
    caller_of = factories.caller_of
    for who in (classroom.alice, classroom.teacher):
        Topics(caller_of(who), f"cohort:{slug}").check(platform)
    Topics(caller_of(classroom.teacher), f"staff:{slug}").check(platform)
    with pytest.raises(NotFound):
        Topics(caller_of(stranger), f"cohort:{slug}").check(platform)
    with pytest.raises(Forbidden):
        Topics(caller_of(classroom.alice), f"staff:{slug}").check(platform)
    with pytest.raises(BadInput):
        Topics(caller_of(classroom.alice), " , ").check(platform)


def test_a_hand_in_tells_its_owner_and_the_staff_without_figures(
    platform: Platform, classroom: Any, in_browser: SignIn, archive: bytes
) -> None:
    alice, teacher = in_browser(classroom.alice), in_browser(classroom.teacher)
    me = alice.get("/api/me").json()
    answer = alice.post(
        f"{classroom.path}/submissions",
        content=archive,
        headers={"X-CSRF-Token": me["csrf"], "Content-Type": "application/zip", "Idempotency-Key": "key-of-alice-1"},
    )
    assert answer.status_code == 201, answer.text
    assert ("me", "attempt") in recent(alice, "me", me["cursor"])
    staff = f"staff:{classroom.cohort.slug}"
    assert recent(teacher, staff, me["cursor"]) == [(staff, "submission")]
    told = teacher.get("/api/events/recent", params={"topics": staff, "after": me["cursor"]}).json()[0]["payload"]
    assert set(told) == {"attempt", "submission", "state", "lab"}


def test_an_event_of_mine_comes_under_the_name_that_was_asked_for(platform: Platform, classroom: Any) -> None:
    topics = Topics(factories.caller_of(classroom.alice), "me,job:j-1")
    with platform.store.transaction() as session:
        events.emit_for_person(session, platform, classroom.alice.id, "grade")
        events.emit(session, platform, "job:j-1", "state")
    rows = events.read(platform, topics.stored, 0)
    assert [topics.as_asked(Event.model_validate(row)).topic for row in rows] == ["me", "job:j-1"]
    assert not topics.of_one_run
    assert Topics(factories.caller_of(classroom.alice), "job:j-1,attempt:a-1").of_one_run
