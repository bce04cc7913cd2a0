"""What the pages of people, groups and settings ask for."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from openpyxl import Workbook

if TYPE_CHECKING:
    from qianka.store.tables import Person
    from starlette.testclient import TestClient

    from .conftest import Classroom  # type: ignore[import-not-found]

    SignIn = Callable[[Person], TestClient]

CSV = "学号,姓名,班级\n1001,张三,1\n1002,李四,1\n"


def workbook(text: str) -> bytes:
    made = Workbook()
    table = made.active
    assert table is not None
    for line in text.split():
        table.append(line.split(","))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_a_workbook_is_previewed_applied_and_then_changes_nothing(with_token: SignIn, classroom: Classroom) -> None:
    teacher = with_token(classroom.teacher)
    base = f"/api/cohorts/{classroom.cohort.slug}"
    data = workbook(CSV)
    found = teacher.post(f"{base}/roster/preview?mode=append", content=data).json()
    assert (found["encoding"], found["rows"]) == ("XLSX", 2)
    assert [change["what"] for change in found["changes"]] == ["added", "added"]
    assert found["columns"] == [["学号", "student_number"], ["姓名", "name"], ["班级", "section"]]
    done = teacher.post(f"{base}/roster/apply?mode=append&digest={found['digest']}", content=data).json()
    assert [(one["login"], one["section"]) for one in done["codes"]] == [("1001", "1"), ("1002", "1")]
    again = teacher.post(f"{base}/roster/preview?mode=append", content=CSV.encode("gb18030")).json()
    assert (again["changes"], again["unchanged"]) == ([], 2)


def test_people_are_added_changed_and_given_codes(with_token: SignIn, classroom: Classroom) -> None:
    teacher, alice = with_token(classroom.teacher), with_token(classroom.alice)
    base = f"/api/cohorts/{classroom.cohort.slug}/people"
    added = teacher.post(base, json={"login": "Late", "name": "插班生", "student_number": "１２３"}).json()
    assert (added["person"]["login"], added["person"]["student_number"]) == ("late", "123")
    assert added["code"]
    changed = teacher.patch(f"{base}/late", json={"state": "suspended", "section": "2"}).json()
    assert (changed["state"], changed["section"]) == ("suspended", "2")
    assert teacher.patch(f"{base}/late", json={"state": "gone"}).status_code == 400
    assert teacher.patch(f"{base}/late", json={"role": "admin"}).status_code == 400
    assert alice.patch(f"{base}/late", json={"section": "3"}).status_code == 403
    made = teacher.post(f"{base}/codes", json={"logins": ["alice"]})
    assert made.status_code == 201
    assert [one["login"] for one in made.json()["codes"]] == ["alice"]
    assert alice.post(f"{base}/codes", json={}).status_code in (401, 403)


def test_a_teacher_sets_timetable_and_budgets(with_token: SignIn, classroom: Classroom) -> None:
    teacher, alice = with_token(classroom.teacher), with_token(classroom.alice)
    path = f"/api/cohorts/{classroom.cohort.slug}"
    times = [{"weekday": 3, "start": "14:00", "end": "15:35", "place": "A101"}]
    changed = teacher.patch(path, json={"title": " AI  2026 ", "class_times": times, "gpu_hours": 8}).json()
    assert (changed["title"], changed["class_times"], changed["gpu_hours"]) == ("AI 2026", times, 8)
    assert alice.get(path).json()["class_times"] == times
    assert teacher.patch(path, json={"gpu_hours": None}).json()["gpu_hours"] is None
    assert teacher.get(path).json()["title"] == "AI 2026"
    assert alice.patch(path, json={"title": "mine"}).status_code == 403
    refused = teacher.patch(path, json={"class_times": [{"weekday": 1, "start": "09:00", "end": "08:00"}]})
    assert refused.status_code == 400
    assert refused.json()["details"]["reason"] == "class_times"
    assert "line 1" in refused.json()["message"]
    assert teacher.patch(path, json={"zone": "CST"}).status_code == 400


def test_groups_come_from_a_workbook_too(with_token: SignIn, classroom: Classroom) -> None:
    teacher = with_token(classroom.teacher)
    path = f"/api/cohorts/{classroom.cohort.slug}/groups"
    made = teacher.post(f"{path}/import?scope=lab2", content=workbook("小组,登录名\n甲,alice\n甲,bob\n"))
    assert made.status_code == 200
    (group,) = made.json()
    assert (group["name"], [one["login"] for one in group["members"]]) == ("甲", ["alice", "bob"])
    refused = teacher.post(f"{path}/import?scope=lab2", content="小组,登录名\n甲,nobody\n".encode("gbk"))
    assert (refused.status_code, refused.json()["details"]["reason"]) == (422, "groups")
