"""The projector in a real browser: a link for a room, which knows aliases alone and ends when it is revoked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qianka.testing import factories

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SignIn = Callable[..., Any]


def test_a_room_sees_the_queue_by_alias_until_its_link_is_revoked(sign_in: SignIn, classmates: Any) -> None:
    student = factories.make_student(classmates.platform, classmates.cohort, "carol", name="卡罗尔", show_name=True)
    factories.make_job(classmates.platform, student, cohort=classmates.cohort)
    teacher = sign_in("teacher", "/c/ai/screen")
    teacher.get_by_label("教室").fill("A101")
    teacher.get_by_role("button", name="做一个链接").click()
    link = teacher.get_by_role("link", name="打开").get_attribute("href")
    context = teacher.context.browser.new_context(locale="zh-CN", viewport={"width": 1920, "height": 1080})
    room = context.new_page()
    asked: list[str] = []
    room.on("request", lambda request: asked.append(request.url))
    room.goto(link)
    room.get_by_role("heading", name="排行榜").wait_for()
    room.keyboard.press("ArrowRight")
    room.get_by_role("heading", name="排队").wait_for()
    room.get_by_text(student.alias).wait_for()
    assert "卡罗尔" not in room.content()
    secret = link.split("#")[1]
    assert not [url for url in asked if secret in url.split("#")[0]]
    room.keyboard.press("l")
    room.get_by_role("heading", name="Queue").wait_for()
    room.keyboard.press(" ")
    room.get_by_text("paused").wait_for()

    row = teacher.get_by_role("row").filter(has_text="A101")
    row.get_by_role("button", name="改画面").click()
    teacher.get_by_label("每个画面几秒").fill("600")
    teacher.get_by_role("button", name="保存").click()
    teacher.get_by_text("已保存").wait_for()
    row.get_by_role("button", name="作废").click()
    teacher.get_by_role("tooltip").get_by_role("button", name="确").click()
    row.wait_for(state="detached")
    room.get_by_role("heading", name="no longer works").wait_for()
    context.close()
