"""Points for form: half by black (share of formatted files), half by flake8 (problems against what costs the half)."""

from __future__ import annotations

from qianka.errors import Text
from qianka.grading.checks.result import CheckResult, rounded
from qianka.grading.figures import Style
from qianka.grading.model import StyleCheck

SHOWN = 5


def evaluate(check: StyleCheck, style: Style) -> CheckResult:
    """Points for what the style stage found."""
    formatted = 1.0 if style.files == 0 else 1 - style.unformatted / style.files
    clean = 0.0 if "flake8" in style.failed else max(0.0, 1 - style.problems / check.problems)
    points = rounded(check.weight * (formatted + clean) / 2)
    good = style.files - style.unformatted
    zh = f"black：{good}/{style.files} 个文件格式正确；flake8：{style.problems} 处问题（{check.problems} 处扣完这一半）"
    en = f"black: {good} of {style.files} files formatted; "
    en += f"flake8: {style.problems} problems ({check.problems} cost its half)"
    if style.unformatted:
        names = "、".join(style.unformatted_first[:SHOWN])
        zh += f"。运行 black -l {check.line_length} code 可自动修好：{names}"
        en += f". black -l {check.line_length} code mends: {', '.join(style.unformatted_first[:SHOWN])}"
    if style.problems_first:
        listed = ", ".join(f"{path}:{line} {code}" for path, line, code in style.problems_first[:SHOWN])
        zh, en = f"{zh}。{listed}", f"{en}. {listed}"
    if style.fmt_off:
        zh += "。写了 fmt: off 的文件按没有格式化算"
        en += ". Files with fmt: off count as not formatted"
    if style.failed:
        names = ", ".join(style.failed)
        zh, en = f"{zh}。{names} 在你的代码上没能跑完", f"{en}. {names} did not get through your code"
    facts = {"unformatted": style.unformatted, "files": style.files, "problems": style.problems, "noqa": style.noqa}
    return CheckResult(
        kind="style",
        title=Text("代码风格", "style"),
        points=points,
        most=check.weight,
        detail=Text(zh, en),
        facts=facts,
    )
