"""A teacher's first steps in a cohort: what is done, what is to do, what needs a look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qianka.domain.people import STAFF
from qianka.errors import Text
from qianka.services import access
from qianka.services.labs import version_folder
from qianka.services.platform import Caller, Platform
from qianka.store.repos import firststeps as repo
from qianka.store.repos import inquiries as inquiry_repo
from qianka.store.repos import labs as lab_repo
from qianka.store.tables import Cohort, Lab

State = Literal["done", "todo", "look"]
_STAFF = tuple(role.value for role in STAFF)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One line of the list; `key` is fixed, `to` names a page."""

    key: str
    state: State
    title: Text
    text: Text
    to: str | None = None


def checklist(platform: Platform, caller: Caller, cohort_slug: str) -> list[Step]:
    """What the cohort's own data say, in the order in which it is done; for staff. Raises NotFound, Forbidden."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        labs = lab_repo.of_cohort(session, cohort.id)
        people = repo.students(session, cohort.id)
        waiting = repo.never_signed_in(session, cohort.id)
        tried = repo.tried_labs(session, cohort.id, _STAFF)
        asked = inquiry_repo.count_open(session, cohort.id)
    base = f"/c/{cohort.slug}"
    steps = [_roster(base, people), _codes(base, people, waiting), _labs(base, labs)]
    if labs:
        steps += [_dates(base, labs), _prepared(platform, base, cohort, labs), _tried(base, labs, tried)]
    steps.append(_limits(base, cohort))
    if asked:
        steps.append(
            Step(
                key="inquiries",
                state="look",
                title=Text("成绩询问", "Inquiries"),
                text=Text(f"{asked} 个询问没有结束", f"{asked} inquiries are open"),
                to=f"{base}/inquiries",
            )
        )
    return steps


def _roster(base: str, people: int) -> Step:
    return Step(
        key="roster",
        state="done" if people else "todo",
        title=Text("导入名单", "Import the roster"),
        text=Text(f"{people} 名学生在册", f"{people} students are on the roster")
        if people
        else Text(
            "把教务系统导出的名单拖进来，写入前先看差异", "drop the registrar's file; you see the differences first"
        ),
        to=f"{base}/people",
    )


def _codes(base: str, people: int, waiting: int) -> Step:
    if not people:
        text = Text("有了名单以后打印激活码", "print the codes once there is a roster")
    elif waiting:
        text = Text(f"{waiting} 名学生还没有登录过", f"{waiting} students have never signed in")
    else:
        text = Text("每个人都登录过", "everybody has signed in")
    state: State = "todo" if not people or waiting == people else "look" if waiting else "done"
    return Step(key="codes", state=state, title=Text("发激活码", "Hand out codes"), text=text, to=f"{base}/people")


def _labs(base: str, labs: list[Lab]) -> Step:
    return Step(
        key="labs",
        state="done" if labs else "todo",
        title=Text("发布实验", "Publish a lab"),
        text=Text(f"{len(labs)} 个实验已发布", f"{len(labs)} labs are published")
        if labs
        else Text("上传实验文件夹的 zip；有错会逐条指出", "send the zip of a lab folder; every mistake is pointed out"),
        to=f"{base}/teach/labs",
    )


def _dates(base: str, labs: list[Lab]) -> Step:
    without = [lab.slug for lab in labs if lab.due_at is None]
    names = _some(without)
    return Step(
        key="dates",
        state="todo" if without else "done",
        title=Text("定截止时间", "Set due dates"),
        text=Text(f"没有截止时间：{names.zh}", f"without a due date: {names.en}")
        if without
        else Text("每个实验都有截止时间", "every lab has a due date"),
        to=f"{base}/teach/labs",
    )


def _prepared(platform: Platform, base: str, cohort: Cohort, labs: list[Lab]) -> Step:
    without = [
        lab.slug for lab in labs if not version_folder(platform, cohort.slug, lab.slug, lab.version).made.is_dir()
    ]
    names = _some(without)
    return Step(
        key="data",
        state="look" if without else "done",
        title=Text("数据就绪", "Data prepared"),
        text=Text(f"数据还没有备好：{names.zh}", f"data not prepared yet: {names.en}")
        if without
        else Text("每个实验的数据都已备好", "the data of every lab is there"),
        to=f"{base}/teach/labs",
    )


def _tried(base: str, labs: list[Lab], tried: set[int]) -> Step:
    without = [lab.slug for lab in labs if lab.id not in tried]
    names = _some(without)
    return Step(
        key="tried",
        state="todo" if without else "done",
        title=Text("自己交一次", "Hand in once yourself"),
        text=Text(
            f"还没有教师的提交被现在的版本评为通过：{names.zh}",
            f"no hand-in of staff was accepted by the present version: {names.en}",
        )
        if without
        else Text("每个实验都有教师的提交通过", "in every lab a hand-in of staff was accepted"),
        to=f"{base}/labs/{without[0]}" if without else f"{base}/labs",
    )


def _limits(base: str, cohort: Cohort) -> Step:
    is_set = cohort.gpu_hours is not None or cohort.cpu_hours is not None
    return Step(
        key="limits",
        state="done" if is_set and cohort.class_times else "look",
        title=Text("额度和上课时间", "Budgets and timetable"),
        text=Text("已设置", "set")
        if is_set and cohort.class_times
        else Text(
            "每人每周的卡时与课表；课表让投影页在课前自己开始",
            "GPU-hours a week, and the class times by which the projector starts by itself",
        ),
        to=f"{base}/settings",
    )


def _some(slugs: list[str], most: int = 5) -> Text:
    shown, more = slugs[:most], len(slugs) - most
    if more > 0:
        return Text(f"{'、'.join(shown)} 等 {len(slugs)} 个", f"{', '.join(shown)} and {more} more")
    return Text("、".join(shown), ", ".join(shown))
