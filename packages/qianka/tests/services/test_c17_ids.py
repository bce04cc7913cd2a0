"""C17: ids that are shuffled, missing, double, too many or spoilt; headers, line ends, other kinds of file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qianka.errors import TooLarge
from qianka.grading.predictions import BadPredictions, Columns, read
from qianka.services import boards
from qianka.testing import FakeClock, caller_of, make_platform
from qianka.testing.boards import BoardScene, make_board_scene

ROWS = 10_000


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> BoardScene:
    clock = FakeClock()
    platform = make_platform(tmp_path_factory.mktemp("c17") / "data", clock=clock)
    return make_board_scene(platform, clock, rows=ROWS)


def lines(course: BoardScene) -> list[str]:
    return course.predictions(1234).splitlines()


def problems(course: BoardScene, text: str | bytes, **more: Any) -> dict[str, dict[str, Any]]:
    """What is told of a file that is refused at no cost."""
    alice = course.student()
    entry = course.enter(alice, text, **more).entry
    assert (entry.state, entry.charged, entry.public, entry.private) == ("invalid", False, None, None)
    assert course.standing(f"p{alice.id}") is None
    found = {one["code"]: one for one in (entry.refusal or {})["problems"]}
    assert all(one["zh"] and one["en"] and len(one["first"]) <= 5 for one in found.values())
    return found


def test_shuffled_is_the_same_score_as_sorted(course: BoardScene) -> None:
    header, *rows = lines(course)
    plain = course.enter(course.student(), "\n".join([header, *rows])).entry
    shuffled = course.enter(course.student(), "\n".join([header, *rows[::-1]]) + "\n").entry
    dos = course.enter(course.student(), "\r\n".join([header, *rows[7:], *rows[:7]]) + "\r\n").entry
    quoted = course.enter(course.student(), "\n".join(f'"{one}"'.replace(",", '","') for one in [header, *rows])).entry
    scores = {(one.state, one.public, one.private) for one in (plain, shuffled, dos, quoted)}
    assert len(scores) == 1
    assert plain.state == "scored"
    share = len(course.public_ids) / ROWS
    assert plain.public is not None
    assert plain.private is not None
    assert plain.public * share + plain.private * (1 - share) == pytest.approx(1 - 1234 / ROWS)


@pytest.mark.parametrize("other", [False, True], ids=["same label", "different label"])
def test_a_double_id_is_refused(course: BoardScene, other: bool) -> None:
    rows = lines(course)
    again = rows[100][:-1] + ("1" if rows[100][-1] == "0" else "0") if other else rows[100]
    found = problems(course, "\n".join([*rows, again]))
    assert found["duplicate_id"]["count"] == 1
    assert found["duplicate_id"]["first"] == [{"line": ROWS + 2, "id": "1099", "value": again[-1]}]


def test_missing_and_extra_ids_with_counts_and_the_first_five(course: BoardScene) -> None:
    rows = lines(course)
    one = problems(course, "\n".join(rows[:-1]))
    assert one["missing_id"]["count"] == 1
    assert one["missing_id"]["first"][0]["id"] == str(1000 + ROWS - 1)
    many = problems(course, "\n".join([rows[0], *rows[9:], *(f"x{n},0" for n in range(7))]))
    assert many["missing_id"]["count"] == 8
    assert [first["id"] for first in many["missing_id"]["first"]] == ["1000", "1001", "1002", "1003", "1004"]
    assert (many["unknown_id"]["count"], len(many["unknown_id"]["first"])) == (7, 5)
    assert many["unknown_id"]["first"][0]["line"] == len(rows) - 8 + 1


SPOILT: dict[str, tuple[Callable[[list[str]], str | bytes], str]] = {
    "index column of to_csv()": (
        lambda rows: "\n".join([f",{rows[0]}", *(f"{n},{row}" for n, row in enumerate(rows[1:]))]),
        "index_column",
    ),
    "no header": (lambda rows: "\n".join(rows[1:]), "no_header"),
    "other header": (lambda rows: "\n".join(["ID,Label", *rows[1:]]), "columns"),
    "byte order mark": (lambda rows: b"\xef\xbb\xbf" + "\n".join(rows).encode(), "byte_order_mark"),
    "UTF-16": (lambda rows: "\n".join(rows).encode("utf-16"), "encoding"),
    "not UTF-8": (lambda rows: "\n".join(rows).encode() + b"\n\xd1\xb5,1\n\xff", "encoding"),
    "semicolons": (lambda rows: "\n".join(row.replace(",", ";") for row in rows), "separator"),
    "tabs": (lambda rows: "\n".join(row.replace(",", "\t") for row in rows), "separator"),
    "ids as decimals": (
        lambda rows: "\n".join([rows[0], *(row.replace(",", ".0,") for row in rows[1:])]),
        "float_id",
    ),
    "labels as class names": (
        lambda rows: "\n".join(rows).replace(",0", ",cat").replace(",1", ",dog"),
        "unknown_label",
    ),
    "labels as decimals": (lambda rows: "\n".join([rows[0], *(row + ".0" for row in rows[1:])]), "unknown_label"),
    "gzip under the name of a CSV": (lambda rows: gzip.compress("\n".join(rows).encode()), "compressed"),
    "zip": (lambda rows: b"PK\x03\x04" + b"\0" * 100, "compressed"),
    "a quote that never ends": (lambda rows: "\n".join([rows[0], '"1000,0', *rows[2:]]), "malformed"),
    "blank": (lambda rows: " \n\n", "empty_file"),
    "header alone": (lambda rows: rows[0], "missing_id"),
    "NUL bytes": (lambda rows: "\n".join(rows).replace("1001,", "10\x0001,").encode(), "missing_id"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_everything_else_is_refused_by_name_at_no_cost(course: BoardScene, name: str) -> None:
    make, code = SPOILT[name]
    assert code in problems(course, make(lines(course)))


@pytest.mark.parametrize("filename", ["p.csv.gz", "P.ZIP", "p.xlsx", "p.npy", "p.7z"])
def test_other_kinds_of_file_are_told_by_their_name(course: BoardScene, filename: str) -> None:
    found = problems(course, course.predictions(), filename=filename)
    assert set(found) <= {"compressed", "not_csv"}


def test_the_size_is_looked_at_before_the_file_is_read(course: BoardScene, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 GB announced: refused before a byte; and a file on disk above the cap is never opened."""
    alice = caller_of(course.student())
    with pytest.raises(TooLarge):
        boards.check_announced(course.platform, alice, "ai", "guess", "p.csv", 2 << 30)
    huge = course.file("")
    with huge.open("wb") as file:
        file.truncate(17 << 20)
    monkeypatch.setattr("qianka.grading.predictions.read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(TooLarge):
        boards.enter(course.platform, alice, "ai", "guess", huge, "p.csv", "key-of-the-huge-one")
    assert boards.allowance_now(course.platform, alice, "ai", "guess").day.used == 0


@pytest.mark.parametrize("data", [b"\0" * 64, b"\xff" * 9, b'"' * 300_000, b"id,label\n" + b"," * 200_000, b"id\n1"])
def test_any_bytes_end_in_a_refusal(data: bytes) -> None:
    with pytest.raises(BadPredictions):
        read(io.BytesIO(data), Columns(id="id", column="label", labels=frozenset("01")), {"1": 0})


def test_a_row_keeps_its_side_whatever_the_order_of_rows(tmp_path: Path) -> None:
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    course = make_board_scene(platform, clock, rows=200, split__public=0.3)
    from qianka.grading.splitting import is_public

    assert course.public_ids == [id for id in course.truth if is_public(course.board.secret, id, 0.3)]
    assert 30 < len(course.public_ids) < 90
    assert not set(course.public_ids) & set(course.private_ids)
