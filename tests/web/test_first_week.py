"""The first week of a course in real browsers: from the registrar's file to the exported grades.

A platform as people run it (server, worker, sandbox, student runtime); the teacher and two students each in a
browser window of their own.
"""

from __future__ import annotations

import csv
import io
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from qianka.cli import embedded
from qianka.cli.embedded import Handle
from qianka.client.archive import pack
from qianka.server import website

pytestmark = [
    pytest.mark.runtime,
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.timeout(420),
    pytest.mark.xdist_group("e2e"),
]

LAB = Path(__file__).parents[2] / "course" / "labs" / "lab1-mnist"
PASSWORD = "correct horse 9"
ROSTER = "学号,姓名,班级\r\n0023001,㼆明,一班\r\n0023002,王丽,一班\r\n"


@pytest.fixture(scope="module")
def campus(student_runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Handle, str]]:
    """A platform with an empty class `ai`, and the one-time code of its teacher."""
    if not (website.BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make web")
    data = tmp_path_factory.mktemp("platform") / "data"
    handle = embedded.start(data, runtime_dir=str(student_runtime), sandbox_minimum="degraded")
    with handle.client() as admin:
        admin.create_cohort(slug="ai", title="人工智能 2026", zone="Asia/Shanghai", cpu_hours=2.0)
        teacher = admin.add_person("ai", login="teacher", name="李老师", role="teacher")
    yield handle, teacher.code or ""
    handle.stop()


@pytest.fixture
def window(browser: Any, campus: tuple[Handle, str]) -> Iterator[Any]:
    """Opens a browser window of its own at a path; errors on the console fail the test."""
    contexts: list[Any] = []
    errors: list[str] = []

    def opened(path: str, width: int = 1280, height: int = 900) -> Any:
        size = {"width": width, "height": height}
        films = os.environ.get("QIANKA_VIDEOS")
        filmed = {"record_video_dir": films, "record_video_size": size} if films else {}
        context = browser.new_context(base_url=campus[0].url, locale="zh-CN", viewport=size, **filmed)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    # A browser reports that nobody is signed in at first; nothing else is to go wrong.
    assert [error for error in errors if "status of 401" not in error] == []


def activate(page: Any, code: str, login: str | None = None) -> None:
    """The slip becomes a password of one's own."""
    if login is not None:
        page.get_by_label("登录名").fill(login)
    page.get_by_label("激活码").fill(code)
    page.get_by_label("新密码", exact=True).fill(PASSWORD)
    page.get_by_label("再输入一次").fill(PASSWORD)
    page.get_by_role("button", name="设置密码").click()
    page.get_by_role("heading", name="本周").wait_for()


def predictions(right: float) -> dict[str, Any]:
    """A CSV of which about that share is right."""
    chance = random.Random(3)
    lines = ["id,label"]
    for number in range(400):
        truth = number % 3
        lines.append(f"{number},{truth if chance.random() < right else (truth + 1) % 3}")
    return {"name": "predictions.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}


def test_from_the_registrars_file_to_the_exported_grades(
    campus: tuple[Handle, str], window: Any, tmp_path: Path
) -> None:
    # The teacher's first day: a password, the class, the lab.
    teacher = window("/activate?login=teacher")
    activate(teacher, campus[1])
    teacher.goto("/c/ai/people/import")
    file = {"name": "名单.csv", "mimeType": "text/csv", "buffer": ROSTER.encode("gb18030")}
    teacher.locator("input[type=file]").set_input_files(file)
    teacher.get_by_text("GB18030").first.wait_for()
    teacher.get_by_text("㼆明").first.wait_for()
    teacher.get_by_role("button", name="写入：+2 −0 ↩0 ✎0，0 人不变").click()
    teacher.get_by_role("list", name="激活码").wait_for()
    slips = teacher.locator(".slip")
    codes = {login: slips.nth(n).locator(".slip-code").inner_text() for n, login in enumerate(("0023001", "0023002"))}
    for n, login in enumerate(codes):
        assert login in slips.nth(n).inner_text()
    folder = tmp_path / "lab1-mnist.zip"
    pack(LAB, folder)
    teacher.goto("/c/ai/teach/labs")
    teacher.locator("input[type=file]").first.set_input_files(folder)
    teacher.get_by_role("button", name="发布", exact=True).click()
    teacher.get_by_role("link", name="手写数字识别").first.wait_for()

    # A student on a phone: the slip, a wrong file, the right one, the grading as it goes.
    first = window("/activate?login=0023001", width=360, height=780)
    activate(first, codes["0023001"])
    first.goto("/c/ai/labs/lab1-mnist")
    wrong = {"name": "hw.zip", "mimeType": "application/zip", "buffer": b"not a zip"}
    first.locator("input[type=file]").set_input_files(wrong)
    first.get_by_role("alert").first.wait_for()
    handin = tmp_path / "作业.zip"
    _zip_of(LAB / "samples" / "solution", handin)
    first.locator("input[type=file]").set_input_files(handin)
    first.get_by_role("link", name="看评分过程").click()
    first.get_by_text("评分中").first.wait_for()
    board = window("/login?next=/c/ai/labs/lab1-mnist/board")
    _sign_in(board, "teacher")
    board.get_by_text("还没有人上榜").wait_for()
    first.get_by_text("通过").first.wait_for(timeout=120_000)
    first.get_by_text("100 / 100 分").first.wait_for()
    assert first.evaluate("document.documentElement.scrollWidth") <= 360
    # The board of the lab, open on another machine, has the line without being loaded again.
    board.get_by_role("row").nth(1).wait_for()

    # A board of predictions: the teacher makes it of a table of answers.
    teacher.goto("/c/ai/boards/new")
    answers = predictions(1.0) | {"name": "answers.csv"}
    teacher.locator("input[type=file]").first.set_input_files(answers)
    teacher.get_by_label("短名").fill("guess")
    teacher.get_by_label("标题").fill("猜类别")
    teacher.get_by_role("button", name="建立").click()
    teacher.get_by_role("heading", name="猜类别").wait_for()

    # The first student enters and leads; the second one enters better, and the first one's open page says so.
    first.goto("/c/ai/boards/guess")
    first.locator("input[type=file]").set_input_files(predictions(0.6))
    first.get_by_role("listitem").filter(has_text="我").filter(has_text="名次").get_by_text("1", exact=True).wait_for()
    second = window("/activate?login=0023002")
    activate(second, codes["0023002"])
    second.goto("/c/ai/boards/guess")
    second.get_by_role("row").nth(1).wait_for()
    second.locator("input[type=file]").set_input_files(predictions(0.9))
    second.get_by_role("row").filter(has_text="我").get_by_text("1", exact=True).wait_for()
    first.get_by_role("listitem").filter(has_text="我").filter(has_text="名次").get_by_text("2", exact=True).wait_for()

    # The end: grades leave as a file that keeps ids as text.
    teacher.goto("/c/ai/grades")
    teacher.get_by_text("㼆明").first.wait_for()
    rows = list(csv.reader(io.StringIO(_saved(teacher, "导出 CSV").decode("utf-8-sig"))))
    assert [{"0023001", "㼆明"} <= set(row) or {"0023002", "王丽"} <= set(row) for row in rows[1:]] == [True, True]
    sheet = openpyxl.load_workbook(io.BytesIO(_saved(teacher, "导出 XLSX"))).active
    assert sheet is not None
    cells = {cell.value: cell for row in sheet.iter_rows() for cell in row}
    assert cells["0023001"].data_type == "s"
    assert cells["0023001"].number_format == "@"
    assert 100 in cells


def _sign_in(page: Any, login: str) -> None:
    page.get_by_label("登录名").fill(login)
    page.get_by_label("密码", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="登录", exact=True).click()


def _saved(page: Any, name: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    return Path(download.value.path()).read_bytes()


def _zip_of(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "expect.toml":
                archive.write(path, path.relative_to(folder).as_posix())
