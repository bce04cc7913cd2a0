"""C01, C02 and C03 in a real browser: a roster is read, shown, compared with the class, and applied as shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def page(sign_in: Callable[..., Any]) -> Any:
    """The import page, with the teacher signed in."""
    opened = sign_in("teacher", "/c/ai/people/import")
    opened.get_by_role("heading", name="导入名单").wait_for()
    return opened


def give(page: Any, data: bytes, name: str = "名单.csv") -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})


def roster(numbers: list[int], **names: str) -> str:
    rows = [f"2023{i:03d},{names.get(f'n{i}', f'学生{i}')},1" for i in numbers]
    return "\n".join(["学号,姓名,班级", *rows]) + "\n"


def expect(page: Any, *texts: str) -> None:
    for text in texts:
        page.get_by_text(text).first.wait_for()


def test_a_file_of_excel_is_read_as_what_it_is(page: Any) -> None:
    give(page, b"\xef\xbb\xbf" + "学号,姓名,班级\n2023901,张三,1\n".encode())
    expect(page, "UTF-8 (BOM)", "1 行", "张三", "学号 → 学号", "班级 → 班级")
    page.get_by_role("button", name="换一个文件").click()
    give(page, "学号;姓名;备注\r\n2023901;张三;\r\n\r\n".encode())
    expect(page, "备注 → 没有用到", "+ 新增 1")


def test_the_encoding_is_shown_with_names_and_can_be_overridden(page: Any) -> None:
    give(page, "学号,姓名,班级\n2023901,㼆明,1\n2023902,𠮷野,1\n2023903,王五,1\n".encode("gb18030"))
    expect(page, "GB18030", "㼆明", "𠮷野", "王五")
    page.get_by_role("combobox", name="编码").click()
    page.get_by_title("UTF-16").click()
    expect(page, "找不到学号、姓名列")  # as UTF-16 it is nonsense, and said to be
    page.get_by_role("button", name="换一个文件").click()
    lines = [f"2023{i:03d},学生{i},一班" for i in range(2, 101)]
    data = "\n".join(["学号,姓名,班级", *lines]).encode().split(b"\n")
    data[56] = data[56].replace("一班".encode(), b"\xff\xe7\x8f\xad")
    give(page, b"\n".join(data))
    expect(page, "第 57 行第 3 列无法解码", "98 行")


def test_a_roster_changes_in_the_middle_of_term(page: Any, tmp_path: Path) -> None:
    # v1: 100 new people, each with a slip.
    give(page, roster(list(range(1, 101))).encode("utf-8-sig"))
    page.get_by_role("button", name="写入：+100 −0 ↩0 ✎0，0 人不变").click()
    page.get_by_role("list", name="激活码").wait_for()
    assert page.locator(".slip").count() == 100
    assert len(set(page.locator(".slip-code").all_inner_texts())) == 100
    page.pdf(path=tmp_path / "slips.pdf")
    assert (tmp_path / "slips.pdf").read_bytes().startswith(b"%PDF")
    page.get_by_role("button", name="再导入一个").click()
    # The same once more changes nothing.
    give(page, roster(list(range(1, 101))).encode("utf-16"))
    expect(page, "名单和班级一致，没有要改的", "100 人不变")
    page.get_by_role("button", name="换一个文件").click()
    # v2: 15 have gone, 10 have come; the teacher is in no file and stays.
    second = [*range(16, 101), *range(101, 111)]
    give(page, roster(second).encode("gbk"))
    expect(page, "+ 新增 10", "− 停用 15", "1 名教师、助教或手动添加的人不在文件里")
    page.get_by_role("button", name="写入：+10 −15 ↩0 ✎0，85 人不变").click()
    page.get_by_role("button", name="再导入一个").click()
    # v3: two come back, one has a new name.
    give(page, roster([1, 2, *second], n20="改名").encode())
    expect(page, "↩ 恢复 2", "✎ 修改 1")
    page.get_by_text("✎ 修改 1").click()
    assert page.locator("del").inner_text() == "学生20"
    page.get_by_role("button", name="写入：+0 −0 ↩2 ✎1，94 人不变").click()
    expect(page, "已写入")
    page.get_by_role("button", name="再导入一个").click()
    # A file with a part of the class asks before it drops anybody.
    give(page, roster(list(range(101, 111))).encode())
    expect(page, "文件里缺了班上 90 % 的人")
    assert page.get_by_role("button", name="先选上面的一项").is_disabled()
    page.get_by_text("只是一部分：只增加和修改").click()
    expect(page, "名单和班级一致，没有要改的")
    page.goto("/c/ai/people")
    page.get_by_role("searchbox", name="姓名、学号或登录名").fill("２０２３００３")
    expect(page, "已停用")
    page.get_by_role("searchbox", name="姓名、学号或登录名").fill("2023001")
    expect(page, "没登录过")
