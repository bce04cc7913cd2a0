"""What teachers' pages ask for: grade book, decisions, inquiries, checklist, checking a lab."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING

from qianka.services.attempts.outcome import update_grade
from qianka.services.platform import Platform
from qianka.store.tables import Attempt
from qianka.testing import make_attempt, make_submission

if TYPE_CHECKING:
    from qianka.store.tables import Person
    from starlette.testclient import TestClient

    from .conftest import Classroom  # type: ignore[import-not-found]

    SignIn = Callable[[Person], TestClient]


def grade(platform: Platform, classroom: Classroom, person: Person, points: float) -> str:
    handed = make_submission(platform, classroom.lab, person)
    made = make_attempt(
        platform,
        handed,
        state="done",
        verdict="accepted",
        points=points,
        max_points=100,
        lab_version=classroom.lab.version,
    )
    with platform.store.transaction() as session:
        update_grade(session, platform, classroom.lab, person.id, "best")
    return made.id


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return data.getvalue()


def test_a_decision_reaches_student_grade_book_and_exports(
    with_token: SignIn, classroom: Classroom, platform: Platform
) -> None:
    attempt = grade(platform, classroom, classroom.alice, 80)
    teacher, alice = with_token(classroom.teacher), with_token(classroom.alice)
    made = teacher.post(
        f"{classroom.path}/adjustments", json={"login": "alice", "kind": "override", "points": 90, "text": "typo"}
    )
    assert made.status_code == 201
    (mine,) = alice.get("/api/grades").json()
    assert (mine["points"], mine["graded_points"], mine["override_reason"]) == (90, 80, "typo")
    base = f"/api/cohorts/{classroom.cohort.slug}"
    cells = {line["login"]: line["grades"] for line in teacher.get(f"{base}/grades").json()["items"]}
    (cell,) = cells["alice"].values()
    assert (cell["points"], cell["attempt"], cell["bonus"]) == (90, attempt, None)
    workbook = teacher.get(f"{base}/grades.xlsx")
    assert workbook.content[:2] == b"PK"
    assert alice.get(f"{base}/grades.xlsx").status_code == 403
    assert alice.post(f"{base}/adjustments/{made.json()['id']}/revoke").status_code == 403
    assert teacher.post(f"{base}/adjustments/{made.json()['id']}/revoke").status_code == 204
    assert alice.get("/api/grades").json()[0]["points"] == 80
    (kept,) = alice.get(f"{classroom.path}/adjustments").json()
    assert kept["revoked_at"] is not None
    assert teacher.post(f"{base}/adjustments/999999/revoke").status_code == 404


def test_inquiries_are_paged_by_what_moved_last(with_token: SignIn, classroom: Classroom, platform: Platform) -> None:
    teacher, alice, bob = (with_token(one) for one in (classroom.teacher, classroom.alice, classroom.bob))
    first = alice.post(f"{classroom.path}/inquiries", json={"text": "为什么是 80？"}).json()["inquiry"]
    second = bob.post(f"{classroom.path}/inquiries", json={"text": "and mine?"}).json()["inquiry"]
    base = f"/api/cohorts/{classroom.cohort.slug}/inquiries"
    page = teacher.get(base, params={"limit": 1}).json()
    rest = teacher.get(base, params={"limit": 1, "after": page["next"]}).json()
    assert {page["items"][0]["id"], rest["items"][0]["id"]} == {first["id"], second["id"]}
    assert rest["next"] is None
    assert [one["id"] for one in alice.get(base).json()["items"]] == [first["id"]]
    assert bob.get(f"/api/inquiries/{first['id']}").status_code == 404
    answered = teacher.post(f"/api/inquiries/{first['id']}/messages", json={"text": "see check 3"}).json()
    assert [one["by_staff"] for one in answered["messages"]] == [False, True]
    assert not answered["inquiry"]["waiting_for_staff"]
    assert teacher.post(f"/api/inquiries/{first['id']}/close").json()["inquiry"]["state"] == "closed"
    assert alice.post(f"/api/inquiries/{first['id']}/reopen").json()["inquiry"]["state"] == "open"
    for wrong in ("yesterday", "2026-09-07T00:00:00~q", "~"):
        assert teacher.get(base, params={"after": wrong}).status_code == 400


def test_the_checklist_follows_what_is_done(with_token: SignIn, classroom: Classroom, platform: Platform) -> None:
    teacher = with_token(classroom.teacher)
    path = f"/api/cohorts/{classroom.cohort.slug}/checklist"

    def steps() -> dict[str, str]:
        return {step["key"]: step["state"] for step in teacher.get(path).json()}

    before = steps()
    assert (before["tls"], before["roster"], before["labs"], before["tried"]) == ("look", "done", "done", "todo")
    assert before["parts-worker"] == "todo"
    grade(platform, classroom, classroom.alice, 100)
    assert steps()["tried"] == "todo"
    grade(platform, classroom, classroom.teacher, 100)
    assert steps()["tried"] == "done"
    teacher.put(f"{classroom.path}/dates", json={"due": "2026-12-20T23:59+08:00"})
    assert steps()["dates"] == "done"
    assert with_token(classroom.alice).get(path).status_code == 403


def test_every_mistake_of_a_lab_folder_is_told_and_nothing_published(with_token: SignIn, classroom: Classroom) -> None:
    teacher = with_token(classroom.teacher)
    base = f"/api/cohorts/{classroom.cohort.slug}/labs"
    before = [(one["slug"], one["version"]) for one in teacher.get(base).json()]
    found = teacher.post(f"{base}/check", content=zipped(lab__toml="title = 3\nnonsense = 1\n")).json()
    assert not found["ok"]
    assert {"lab.toml"} == {one["file"] for one in found["errors"]}
    assert all(one["line"] >= 1 and one["message"] for one in found["errors"])
    assert [(one["slug"], one["version"]) for one in teacher.get(base).json()] == before
    assert teacher.post(f"{base}/check", content=b"no zip").status_code in (400, 422)
    assert with_token(classroom.alice).post(f"{base}/check", content=zipped(a="b")).status_code == 403


def test_a_regrade_tells_where_an_override_holds(with_token: SignIn, classroom: Classroom, platform: Platform) -> None:
    for person in (classroom.alice, classroom.bob):
        grade(platform, classroom, person, 80)
    teacher = with_token(classroom.teacher)
    decided = {"login": "alice", "kind": "override", "points": 85, "text": "oral exam"}
    teacher.post(f"{classroom.path}/adjustments", json=decided)
    regrade = teacher.post(f"{classroom.path}/regrades", json={"reason": "stricter"}).json()["id"]
    with platform.store.transaction() as session:
        for row in session.query(Attempt).filter_by(regrade_id=regrade):
            row.state, row.verdict, row.points, row.max_points = "done", "accepted", 60, 100
    shown = teacher.get(f"/api/regrades/{regrade}").json()
    assert {line["login"]: line["override"] for line in shown["lines"]} == {"alice": 85, "bob": None}
    teacher.post(f"/api/regrades/{regrade}/apply", json={"digest": shown["digest"]})
    lines = teacher.get(f"/api/cohorts/{classroom.cohort.slug}/grades").json()["items"]
    assert {line["login"]: line["total"] for line in lines} == {"alice": 85, "bob": 60}
