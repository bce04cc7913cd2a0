"""People, groups and settings of a cohort in a real browser; what one does, another sees without reloading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SignIn = Callable[..., Any]


def expect(page: Any, *texts: str) -> None:
    for text in texts:
        page.get_by_text(text).first.wait_for()


def test_a_student_is_added_gets_a_slip_and_signs_in_with_it(sign_in: SignIn, classmates: Any) -> None:
    page = sign_in("teacher", "/c/ai/people")
    page.get_by_role("button", name="加一个人").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("姓名", exact=True).fill("插班生")
    dialog.get_by_label("学号", exact=True).fill("２０２３９９９")
    dialog.get_by_label("登录名").fill("2023999")
    dialog.get_by_role("button", name="加一个人").click()
    code = page.locator(".slip-code").inner_text()
    other = page.context.browser.new_context(base_url=page.url.split("/c/")[0], locale="zh-CN").new_page()
    other.goto("/activate?login=2023999")
    other.get_by_label("激活码").fill(code)
    other.get_by_label("新密码").fill("my own words 1")
    other.get_by_label("再输入一次").fill("my own words 1")
    other.get_by_role("button", name="设置密码").click()
    other.wait_for_url("**/")
    expect(other, "插班生")
    other.context.close()


def test_who_is_suspended_is_seen_so_on_another_open_page(sign_in: SignIn, classmates: Any) -> None:
    teacher, other = sign_in("teacher", "/c/ai/people"), sign_in("teacher", "/c/ai/people")
    row = other.get_by_role("row").filter(has_text="鲍勃")
    teacher.get_by_role("button", name="修改 鲍勃").click()
    teacher.get_by_role("button", name="停用", exact=True).click()
    teacher.get_by_role("tooltip").get_by_role("button", name="确").click()
    row.get_by_text("已停用").wait_for()
    teacher.get_by_role("button", name="恢复").click()
    row.get_by_text("在班").wait_for()


def test_two_students_form_a_group_and_see_each_other(sign_in: SignIn, classmates: Any) -> None:
    teacher = sign_in("teacher", "/c/ai/groups")
    teacher.get_by_role("button", name="设置规则").click()
    teacher.get_by_label("人数上限").fill("2")
    teacher.get_by_role("dialog").get_by_role("button", name="保存").click()
    expect(teacher, "学生自由组队")
    alice, bob = sign_in("alice", "/c/ai/labs/pairs", width=360), sign_in("bob", "/c/ai/labs/pairs", width=360)
    alice.get_by_label("小组名").fill("甲组")
    alice.get_by_role("button", name="建一个小组").click()
    alice.get_by_label("同学的登录名（学号）").fill("bob")
    alice.get_by_role("button", name="邀请").click()
    expect(alice, "鲍勃 还没接受")
    expect(bob, "甲组 邀请你加入")
    bob.get_by_role("button", name="加入").click()
    expect(alice, "小组已满")
    expect(teacher, "爱丽丝 (alice)、鲍勃 (bob)")
    for page in (alice, bob):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_teacher_sets_the_timetable_and_an_hour_of_the_week(sign_in: SignIn, classmates: Any) -> None:
    page = sign_in("teacher", "/c/ai/settings")
    page.get_by_label("GPU 小时").fill("8")
    page.get_by_role("button", name="加一节课").click()
    page.get_by_label("结束").fill("07:00")
    page.get_by_role("button", name="保存").click()
    expect(page, "结束要晚于开始")
    page.get_by_label("结束").fill("09:35")
    page.get_by_role("button", name="保存").click()
    expect(page, "已保存")
    page.reload()
    page.get_by_label("GPU 小时").wait_for()
    assert page.get_by_label("GPU 小时").input_value() == "8.0"
    assert page.get_by_label("结束").input_value() == "09:35"
