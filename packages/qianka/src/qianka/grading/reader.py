"""lab.toml as a file of tables, and the error that holds all mistakes found in it."""

from __future__ import annotations

from qianka.errors import Refused, Text
from qianka.tomlfile.lines import KeyPath
from qianka.tomlfile.reader import Notes as _Notes
from qianka.tomlfile.reader import Problem as Problem
from qianka.tomlfile.reader import Table as Table

FILE = "lab.toml"


class Notes(_Notes):
    """The mistakes found so far in a lab.toml."""

    def __init__(self, lines: dict[KeyPath, int]) -> None:
        super().__init__(lines, FILE)


class LabError(Refused):
    """A lab that cannot be used; `problems` holds all mistakes found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        first = problems[0].say()
        more = len(problems) - 1
        super().__init__(
            Text(
                first.zh + (f"（另有 {more} 处）" if more else ""), first.en + (f" (and {more} more)" if more else "")
            ),
            Text("按提示改好后用 qianka lab check 再查一遍", "mend it as told and run qianka lab check again"),
            reason="lab",
            problems=[
                {"file": p.file, "line": p.line, "key": p.key, "zh": p.text.zh, "en": p.text.en} for p in problems
            ],
        )
