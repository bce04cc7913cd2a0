"""C01, C02 and C03 by `qianka people`: previewed, applied as previewed, codes shown once."""

from __future__ import annotations

import csv
import io
import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from qianka.cli import common, output
from qianka.cli.main import main
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.domain.people import Role
from qianka.server.app import create_app
from qianka.services import people
from qianka.services.platform import Platform
from qianka.testing import caller_of, enroll, make_cohort, make_person
from starlette.testclient import TestClient

Run = Callable[..., Any]


@pytest.fixture
def run(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Runs a command as the teacher of an empty class; the object that it prints, or its text with `plain`."""
    teacher = make_person(platform, "teacher", student_number=None)
    enroll(platform, make_cohort(platform, "ai"), teacher, Role.TEACHER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.mode, "language", "zh")
    with TestClient(create_app(platform.settings, platform), base_url="http://localhost") as server:

        def command(*words: str, status: int = 0, plain: bool = False) -> Any:
            secret = people.issue_token(platform, caller_of(teacher), "test").secret
            monkeypatch.setattr(
                common,
                "client",
                lambda: Client(Transport("http://localhost", secret, "zh", transport=Kept(server), tries=1)),
            )
            monkeypatch.setattr(output.mode, "json", False)
            assert main([*words] if plain else [*words, "--json"]) == status
            told = capsys.readouterr()
            return told.out + told.err if plain else json.loads(told.out)

        yield command


class Kept:
    """The server's transport, which outlives the client that closes it."""

    def __init__(self, server: TestClient) -> None:
        self.handle_request = server._transport.handle_request

    def close(self) -> None:
        return None


def lines(numbers: list[int], **names: str) -> str:
    rows = [f"2023{i:03d},{names.get(f'n{i}', f'学生{i}')},1" for i in numbers]
    return "\n".join(["学号,姓名,班级", *rows]) + "\n"


def workbook(text: str) -> bytes:
    made = Workbook()
    table = made.active
    assert table is not None
    for line in text.split():
        table.append(line.split(","))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def page(text: str) -> bytes:
    rows = "".join("<tr>" + "".join(f"<td>{cell}" for cell in line.split(",")) for line in text.split())
    return f"<html><meta charset=gb2312><table>{rows}</table>".encode("gb18030")


ONE = "学号,姓名,班级\n2023001,张三,1\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (ONE.encode("utf-8-sig"), "UTF-8 (BOM)"),
        (ONE.replace("\n", "\r\n").replace(",", ";").encode("utf-8-sig"), "UTF-8 (BOM)"),
        (ONE.encode("gb18030"), "GB18030"),
        (ONE.encode("utf-16"), "UTF-16"),
        (workbook(ONE), "XLSX"),
        (page(ONE), "GB18030"),
    ],
    ids=["bom", "semicolons", "gb18030", "utf-16", "xlsx", "page"],
)
def test_every_file_of_excel_is_previewed_applied_and_then_changes_nothing(
    run: Run, tmp_path: Path, data: bytes, encoding: str
) -> None:
    (tmp_path / "r.xls").write_bytes(data)
    shown = run("people", "import", "r.xls", plain=True)
    assert f"编码 {encoding}，1 行，如：张三" in shown
    assert "学号→学号、姓名→姓名、班级→班级" in shown
    assert "加 --apply 写入" in shown
    assert [p["login"] for p in run("people", "list")["items"]] == ["teacher"]
    assert run("people", "import", "r.xls", "--apply")["added"] == 1
    again = run("people", "import", "r.xls", "--apply")
    assert (again["added"], again["dropped"], again["returned"], again["changed"], again["codes"]) == (0, 0, 0, 0, [])


def test_one_bad_byte_leaves_the_other_rows(run: Run, tmp_path: Path) -> None:
    data = lines(list(range(2, 101))).encode().split(b"\n")
    data[56] = data[56][:-1] + b"\xff"
    (tmp_path / "r.csv").write_bytes(b"\n".join(data))
    found = run("people", "import", "r.csv")
    assert [problem["message"] for problem in found["problems"]] == ["第 57 行第 3 列无法解码"]
    assert found["rows"] == 98


def test_a_class_changes_in_the_middle_of_term(run: Run, tmp_path: Path) -> None:
    def give(text: str, *words: str, status: int = 0) -> Any:
        (tmp_path / "r.csv").write_text(text, "utf-8")
        return run("people", "import", "r.csv", *words, status=status)

    (tmp_path / "r.csv").write_text(lines(list(range(1, 101))), "utf-8")
    run("people", "import", "r.csv", "--apply", "--codes", "codes.csv")
    codes = tmp_path / "codes.csv"
    assert stat.S_IMODE(codes.stat().st_mode) == 0o600
    assert len(list(csv.reader(codes.read_text("utf-8-sig").splitlines()))) == 101
    run("people", "add", "helper", "--role", "assistant", "--name", "助教")
    second = [*range(16, 101), *range(101, 111)]
    assert give(lines(second))["summary"] == "+10 −15 ↩0 ✎0，85 人不变"
    give(lines(second), "--apply")
    done = give(lines([1, 2, *second], n20="改名"), "--apply")
    assert done["summary"] == "+0 −0 ↩2 ✎1，94 人不变"
    states = {p["login"]: p["state"] for p in run("people", "list")["items"]}
    assert [states[login] for login in ("2023001", "2023003", "helper", "teacher")] == [
        "active",
        "suspended",
        "active",
        "active",
    ]
    refused = give(lines(list(range(101, 111))), "--apply", status=7)
    assert refused["details"]["reason"] == "choose_mode"
    assert give(lines(list(range(101, 111))), "--append", "--apply")["dropped"] == 0
