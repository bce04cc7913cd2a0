"""A regrade over HTTP: nothing of it in any answer to a student until it is applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from qianka.errors import NotFound
from qianka.server.topics import Topics
from qianka.services.attempts.outcome import update_grade
from qianka.services.platform import Platform
from qianka.store.tables import Attempt
from qianka.testing import caller_of, make_attempt, make_job, make_submission

if TYPE_CHECKING:
    from qianka.store.tables import Person
    from starlette.testclient import TestClient

    from .conftest import Classroom  # type: ignore[import-not-found]

    SignIn = Callable[[Person], TestClient]


def end(platform: Platform, classroom: Classroom, attempt: str, points: float) -> None:
    with platform.store.transaction() as session:
        row = session.get(Attempt, attempt)
        assert row is not None
        row.state, row.verdict, row.points, row.max_points, row.score = "done", "accepted", points, 100, points / 100
        if row.counts:
            update_grade(session, platform, classroom.lab, row.person_id, "best")


def test_students_learn_of_a_regrade_when_it_is_applied(
    with_token: SignIn, classroom: Classroom, platform: Platform
) -> None:
    handed = make_submission(platform, classroom.lab, classroom.alice)
    first = make_attempt(platform, handed, lab_version=classroom.lab.version)
    end(platform, classroom, first.id, 80)
    teacher, alice = with_token(classroom.teacher), with_token(classroom.alice)
    looks = [
        "/api/grades",
        f"{classroom.path}/board",
        f"{classroom.path}/submissions",
        f"{classroom.path}/grade-changes",
        f"/api/submissions/{handed.id}",
        f"/api/submissions/{handed.id}/attempts",
        "/api/jobs",
        "/api/jobs?kind=grade",
    ]
    before = [alice.get(path).json() for path in looks]

    made = teacher.post(f"{classroom.path}/regrades", json={"reason": "stricter"})
    assert made.status_code == 201
    regrade = made.json()["id"]
    assert teacher.post(f"{classroom.path}/regrades", json={"reason": "again"}).status_code == 409
    with platform.store.reading() as session:
        rehearsed = session.query(Attempt).filter_by(regrade_id=regrade).one().id
    job = make_job(platform, classroom.teacher, cohort=classroom.cohort, name="train", attempt_id=rehearsed)
    assert teacher.get(f"/api/regrades/{regrade}").json()["waiting"] == 1
    end(platform, classroom, rehearsed, 70)

    assert [alice.get(path).json() for path in looks] == before
    hidden = [
        f"/api/attempts/{rehearsed}",
        f"/api/attempts/{rehearsed}/feedback",
        f"/api/attempts/{rehearsed}/feedback.html",
        f"/api/attempts/{rehearsed}/metrics",
        f"/api/regrades/{regrade}",
        f"/api/replays/{rehearsed}",
        f"/api/jobs/{job.id}",
        f"/api/jobs/{job.id}/logs",
        f"/api/events?topics=attempt:{rehearsed}",
        f"/api/events?topics=job:{job.id}",
    ]
    assert [alice.get(path).status_code for path in hidden] == [404] * len(hidden)
    assert alice.get(f"{classroom.path}/regrades").status_code == 403
    for path in (f"/api/regrades/{regrade}/apply", f"/api/regrades/{regrade}/drop"):
        assert alice.post(path, json={"digest": "0123456789abcdef"}).status_code == 404
    with pytest.raises(NotFound):
        Topics(caller_of(classroom.alice), f"attempt:{rehearsed}").check(platform)

    shown = teacher.get(f"/api/regrades/{regrade}").json()
    assert [(line["login"], line["before"], line["after"]) for line in shown["lines"]] == [("alice", 80, 70)]
    wrong = teacher.post(f"/api/regrades/{regrade}/apply", json={"digest": "0123456789abcdef"})
    assert wrong.json()["details"]["reason"] == "changed"
    applied = teacher.post(f"/api/regrades/{regrade}/apply", json={"digest": shown["digest"]}).json()
    assert (applied["regrade"]["state"], applied["regrade"]["moved"]) == ("applied", 1)
    assert [one["points"] for one in alice.get("/api/grades").json()] == [70]
    assert alice.get(f"/api/attempts/{rehearsed}").json()["number"] == 2
    told = alice.get(f"{classroom.path}/grade-changes").json()
    assert [(one["why"], one["before"], one["after"], one["by"]) for one in told][-1] == ("regrade", 80, 70, "teacher")
    assert (teacher.get(f"{classroom.path}/regrades").json()[0]["reason"]) == "stricter"


def test_publishing_anew_tells_the_teacher_what_to_run(
    with_token: SignIn, classroom: Classroom, platform: Platform, zip_of: Callable[[dict[str, str]], bytes]
) -> None:
    old = make_attempt(platform, make_submission(platform, classroom.lab, classroom.alice), lab_version="older")
    end(platform, classroom, old.id, 80)
    folder = platform.folders.labs / classroom.cohort.slug / classroom.lab.slug / classroom.lab.version
    files = {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in folder.rglob("*") if p.is_file()}
    headers = {"Idempotency-Key": "publish-again", "Content-Type": "application/zip"}
    answer = with_token(classroom.teacher).post(
        f"/api/cohorts/{classroom.cohort.slug}/labs",
        params={"slug": classroom.lab.slug},
        content=zip_of(files),
        headers=headers,
    )
    assert answer.status_code == 201, answer.text
    assert f"qianka lab regrade start {classroom.lab.slug}" in answer.json()["regrade"]
    assert with_token(classroom.alice).get("/api/grades").json()[0]["points"] == 80


def test_the_cohort_of_another_teacher_stays_closed(
    with_token: SignIn, classroom: Classroom, platform: Platform
) -> None:
    from qianka.testing import make_person

    stranger = with_token(make_person(platform, "stranger"))
    assert stranger.post(f"{classroom.path}/regrades", json={"reason": "x"}).status_code == 404
    assert stranger.get(f"{classroom.path}/dates").status_code == 404
