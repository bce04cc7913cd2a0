"""What staff should look at in a hand-in. A flag never changes points: the grader is built so that these
tricks have no effect, and a flag may be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qianka.errors import Text
from qianka.grading.figures import Style
from qianka.grading.report import Report

MAX_FILES = 300
MAX_BYTES = 256 * 1024
MAX_FLAGS = 30
MANY_NUMBERS = 5000
LONG_STRING = 4096
RESULT_NAMES = ("result.json", "results.json", "score.json", "scores.json", "figures.json", "grade.json", "score.txt")


@dataclass(frozen=True, order=True)
class Flag:
    """One thing to look at: a code, where, and a sentence."""

    code: str
    where: str
    text: Text

    def as_json(self) -> dict[str, Any]:
        """As it stands in the staff's notes."""
        return {"code": self.code, "where": self.where, "zh": self.text.zh, "en": self.text.en}


_PATTERNS: tuple[tuple[str, str, Text], ...] = (
    ("hides_errors", r"showtraceback|sys\.excepthook\s*=", Text("改写了报错的方式", "changes how errors are shown")),
    ("at_exit", r"\batexit\b|os\._exit", Text("在退出时做事，或绕过退出", "acts at exit, or leaves by a side door")),
    (
        "inspects",
        r"gc\.get_objects|sys\._getframe|inspect\.stack",
        Text("翻找解释器里的对象", "searches the interpreter's objects"),
    ),
    (
        "looks_at_system",
        r"/proc/|ptrace|process_vm_readv|\bctypes\b",
        Text("读取系统或其他进程", "reads the system or other processes"),
    ),
    (
        "hunts_answers",
        r"/answers|/judge|answers\.csv|os\.walk\(\s*['\"]/['\"]|glob\(\s*['\"]/",
        Text("找答案或评分程序", "looks for answers or the scorer"),
    ),
    (
        "patches_scorer",
        r"accuracy_score\s*=|sklearn\.metrics\.\w+\s*=|max_memory_allocated\s*=|time\.(time|perf_counter)\s*=",
        Text("改写了计分或计量函数", "replaces functions that score or measure"),
    ),
    ("prints_score", r"['\"]score['\"]\s*:\s*\d", Text("代码里写死了分数", "holds a score as a constant")),
    (
        "network",
        r"\burllib\.request\b|\brequests\.(get|post)\b|\bsocket\.socket\b",
        Text("试图联网", "tries to use the network"),
    ),
)
_COMPILED = tuple((code, re.compile(pattern), text) for code, pattern, text in _PATTERNS)
_PRINTED = re.compile(r"""["']?(score|points|grade|得分|成绩)["']?\s*[:=]\s*\d""", re.IGNORECASE)


def of_sources(tree: Path) -> list[Flag]:
    """Flags from the text of all Python files below `tree`; nothing is parsed or run."""
    found: list[Flag] = []
    files = sorted(path for path in tree.rglob("*.py") if path.is_file() and not path.is_symlink())
    for path in files[:MAX_FILES]:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
        shown = path.relative_to(tree).as_posix()
        for code, pattern, words in _COMPILED:
            match = pattern.search(text)
            if match:
                line = text.count("\n", 0, match.start()) + 1
                found.append(Flag(code, f"{shown}:{line}", words))
        if path.name in ("conftest.py", "sitecustomize.py", "usercustomize.py"):
            found.append(
                Flag("hooks", shown, Text("带了会被自动加载的文件", "holds a file that tools load by themselves"))
            )
    return found[:MAX_FLAGS]


def of_output(stage: str, stdout: str, names: Iterable[str]) -> list[Flag]:
    """Flags from what a stage printed and from the names of the files it left."""
    found = []
    if _PRINTED.search(stdout):
        found.append(
            Flag(
                "printed_score",
                stage,
                Text("打印了像分数的内容（不起作用）", "printed what looks like a score (to no effect)"),
            )
        )
    for name in names:
        if name.rpartition("/")[2].lower() in RESULT_NAMES:
            found.append(
                Flag(
                    "wrote_result",
                    f"{stage}:{name}",
                    Text("写了像评分结果的文件（不起作用）", "wrote what looks like a result (to no effect)"),
                )
            )
    return found[:MAX_FLAGS]


def of_style(style: Style) -> list[Flag]:
    """Flags from the style stage: configuration of one's own, suppressions, tables of literals."""
    found = [
        Flag(
            "own_config",
            name,
            Text("自带检查工具的配置（不起作用）", "brings its own tool configuration (to no effect)"),
        )
        for name in style.configs
    ]
    if style.noqa:
        found.append(
            Flag(
                "noqa",
                str(style.noqa),
                Text("用 noqa 压制问题（不起作用）", "silences problems by noqa (to no effect)"),
            )
        )
    if style.fmt_off:
        found.append(Flag("fmt_off", str(style.fmt_off), Text("用 fmt: off 关掉格式检查", "switches formatting off")))
    if style.numbers > MANY_NUMBERS or style.longest > LONG_STRING:
        where = f"{style.numbers} / {style.longest}"
        found.append(
            Flag(
                "literals",
                where,
                Text("代码里有大段常量，可能是答案表或权重", "large literals: a table of answers or weights, perhaps"),
            )
        )
    for tool in style.failed:
        found.append(
            Flag("tool_failed", tool, Text("检查工具在这份代码上没能跑完", "a tool did not get through this code"))
        )
    return found


def of_report(stage: str, report: Report) -> list[Flag]:
    """Flags from the report of a paired stage: tests that could not go on with what came back."""
    words = Text(
        "这个测试抛出了断言以外的异常：可能是测试写错，也可能是学生返回了怪值",
        "this test raised something else than an assertion: a mistake in it, or an odd value of the student's",
    )
    found = [Flag("test_broken", f"{stage}:{item.name}", words) for item in report.items if item.state == "broken"]
    if any(item.state == "gone" for item in report.items):
        text = Text("学生一侧中途消失了", "the student's side was gone before the tests were through")
        found.append(Flag("peer_gone", stage, text))
    return found[:MAX_FLAGS]


def of_result(stage: str, result: dict[str, Any] | None) -> list[Flag]:
    """Flags from the supervisor's result: processes left behind, links among the output."""
    found = []
    left = (result or {}).get("left_after")
    if isinstance(left, int) and left > 0:
        found.append(
            Flag("left_processes", stage, Text("留下了后台进程（已清除）", "left processes behind (they were ended)"))
        )
    refused = ((result or {}).get("out") or {}).get("refused") or []
    for item in refused[:5]:
        if isinstance(item, dict):
            where = f"{stage}:{str(item.get('name'))[:100]}"
            found.append(
                Flag(
                    "odd_output",
                    where,
                    Text("输出里有链接或特殊文件（已丢弃）", "links or special files in the output (dropped)"),
                )
            )
    return found
