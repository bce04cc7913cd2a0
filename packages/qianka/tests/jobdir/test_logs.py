"""What is kept of a run's output, and reading along while it grows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qianka import jobdir
from qianka.jobdir import records
from qianka.jobdir.stream import Stream

JOB = {"format": 1, "job": "j-1", "kind": "run", "argv": ["/bin/true"]}


@pytest.fixture
def directory(tmp_path: Path) -> str:
    made = jobdir.make(tmp_path, JOB)
    records.claim(made, 1)
    return made


def end(directory: str) -> None:
    records.put_result(directory, 1, {"format": 1, "run": 1})


def read_all(directory: str, size: int = 1 << 18) -> str:
    text, offset = "", 0
    while True:
        more, following = jobdir.read_log(directory, 1, "stdout", offset, size)
        if following == offset:
            return text
        text, offset = text + more, following


def test_a_short_output_is_kept_whole(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 1000)
    stream.take("训练开始\n".encode())
    assert jobdir.read_log(directory, 1, "stdout") == ("训练开始\n", 13)
    stream.take(b"done\n")
    assert jobdir.read_log(directory, 1, "stdout", 13) == ("done\n", 18)
    stream.close()
    end(directory)
    assert read_all(directory) == "训练开始\ndone\n"
    assert Path(directory, "runs/1/stdout.log").read_text("utf-8") == "训练开始\ndone\n"


def test_the_middle_of_a_long_output_is_counted(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 200)
    stream.take(b"a" * 100 + b"b" * 5000 + b"c" * 100)
    stream.close()
    end(directory)
    text = Path(directory, "runs/1/stdout.log").read_text("utf-8")
    assert text.startswith("a" * 100 + "\n…省略 5000 字节 / 5000 bytes omitted…\n")
    assert text.endswith("c" * 100)
    assert read_all(directory) == text


def test_the_tail_is_read_along_while_the_run_goes_on(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 200)
    stream.take(b"h" * 100)
    text, offset = jobdir.read_log(directory, 1, "stdout")
    stream.take(b"x" * 1000)
    stream.show()
    more, offset = jobdir.read_log(directory, 1, "stdout", offset)
    assert "900 bytes omitted" in more
    assert more.endswith("x" * 100)
    assert offset == 1100
    assert jobdir.read_log(directory, 1, "stdout", offset) == ("", 1100)
    stream.take(b"last words")
    stream.close()
    end(directory)
    assert jobdir.read_log(directory, 1, "stdout", offset) == ("last words", 1110)
    assert text == "h" * 100


def test_a_flood_is_not_held_in_memory(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 1000)
    for _ in range(2000):
        stream.take(b"z" * 10_000)
        assert len(stream._tail) <= 11_000
    stream.close()
    assert stream.total == 20_000_000
    assert Path(directory, "runs/1/stdout.log").stat().st_size < 1200


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="aé汉😀\n", max_size=400), st.integers(1, 40), st.integers(32, 300), st.integers(16, 64))
def test_characters_are_never_cut(
    tmp_path_factory: pytest.TempPathFactory, text: str, step: int, keep: int, size: int
) -> None:
    directory = jobdir.make(tmp_path_factory.mktemp("job"), JOB)
    records.claim(directory, 1)
    stream = Stream(directory, 1, "stdout", keep)
    data, offset, seen = text.encode(), 0, ""
    for place in range(0, len(data), step):
        stream.take(data[place : place + step])
        stream.show()
        more, offset = jobdir.read_log(directory, 1, "stdout", offset, size)
        seen += more
    stream.close()
    end(directory)
    while True:
        more, following = jobdir.read_log(directory, 1, "stdout", offset, size)
        if following == offset:
            break
        seen, offset = seen + more, following
    assert "\ufffd" not in seen
    assert offset == len(data)
    whole = read_all(directory)
    omitted = re.search(r"(\d+) bytes omitted", whole)
    kept = re.sub(r"\n…省略 \d+ 字节 / \d+ bytes omitted…\n", "", whole).encode()
    assert len(kept) + int(omitted[1] if omitted else 0) == len(data)
    assert whole.encode() == Path(directory, "runs/1/stdout.log").read_bytes()


def test_bytes_that_are_no_text_are_replaced_and_do_not_stop_the_reader(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 1000)
    stream.take(b"ok\xff\xfe\x00\xe6")
    stream.close()
    end(directory)
    assert read_all(directory) == "ok\ufffd\ufffd\x00\ufffd"


def test_half_a_character_waits_for_its_other_half(directory: str) -> None:
    stream = Stream(directory, 1, "stdout", 1000)
    stream.take("汉".encode()[:2])
    assert jobdir.read_log(directory, 1, "stdout") == ("", 0)
    stream.take("汉".encode()[2:])
    assert jobdir.read_log(directory, 1, "stdout") == ("汉", 3)
    stream.close()


def test_before_the_run_there_is_nothing_to_read(directory: str) -> None:
    assert jobdir.read_log(directory, 1, "stderr") == ("", 0)
    with pytest.raises(jobdir.FormatError):
        jobdir.read_log(directory, 1, "../../job")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain 中文\n\ttab", "plain 中文\n\ttab"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb", "a\\x0db"),
        ("line\r\n", "line\n"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\x9b31m", "\\x9b31m"),
        ("\ufeff\u200b", "\\ufeff\\u200b"),
        ("😀", "😀"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_commands_a_terminal_is_made_visible(raw: str, shown: str) -> None:
    assert jobdir.printable(raw) == shown
