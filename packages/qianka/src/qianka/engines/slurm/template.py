"""Fills the batch template: bash with @names@ in it, so that an operator can read it as what it becomes.

@name@        its value, already quoted; a line with an empty value is left out,
              a line with a list of values is written once for each
##if name     what follows up to ##else or ##end only if `name` has a value; may be nested
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from qianka.errors import ConfigError, Text

Value = str | int | bool | Sequence[str] | None
SHIPPED = Path(__file__).with_name("job.sh.txt")
LONGEST = 256 << 10

_NAME = re.compile(r"@([a-z_]+)@")
_MARK = re.compile(r"##(if|else|end)\b *([a-z_]*) *")


def read(file: Path | None) -> tuple[str, str]:
    """(text, name) of the template; raises ConfigError when a site's own cannot be read."""
    file = SHIPPED if file is None else file
    try:
        if file.stat().st_size > LONGEST:
            raise ConfigError(Text(f"模板 {file} 太大", f"the template {file} is too big"))
        return file.read_text("utf-8"), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            Text(f"读不了批处理模板 {file}：{error}", f"cannot read the batch template {file}: {error}"),
            Text("检查 site.toml 的 template", "see to `template` in site.toml"),
        ) from error


def fill(text: str, name: str, values: Mapping[str, Value]) -> str:
    """The template with its values; `name` is what errors call it.

    Raises ConfigError naming the line of a name that there is not, and of an ##if without its ##end.
    """
    lines: list[str] = []
    open_ifs: list[tuple[int, bool]] = []  # (line, whether this branch is written)
    for number, line in enumerate(text.splitlines(), 1):
        if mark := _MARK.fullmatch(line):
            _turn(open_ifs, mark[1], mark[2], values, f"{name}:{number}", number)
        elif all(written for _, written in open_ifs):
            lines += _filled(line, values, f"{name}:{number}")
        else:
            _filled(line, values, f"{name}:{number}")  # a wrong name is told of at once, not one day
    if open_ifs:
        raise _wrong(f"{name}:{open_ifs[-1][0]}", "##if 没有对应的 ##end", "this ##if has no ##end")
    return "\n".join(lines) + "\n"


def _turn(
    open_ifs: list[tuple[int, bool]], kind: str, condition: str, values: Mapping[str, Value], where: str, number: int
) -> None:
    if kind == "if":
        open_ifs.append((number, bool(_value(condition, values, where))))
    elif not open_ifs:
        raise _wrong(where, f"##{kind} 前面没有 ##if", f"there is no ##if before this ##{kind}")
    elif kind == "else":
        line, written = open_ifs.pop()
        open_ifs.append((line, not written))
    else:
        open_ifs.pop()


def _filled(line: str, values: Mapping[str, Value], where: str) -> list[str]:
    found = {key: _value(key, values, where) for key in _NAME.findall(line)}
    if any(value is None or value is False or value == "" for value in found.values()):
        return []
    lists = [key for key, value in found.items() if isinstance(value, list | tuple)]
    if not lists:
        return [_with(line, found)]
    rows = found[lists[0]]
    if not isinstance(rows, list | tuple):
        return []
    return [_with(line, {**found, lists[0]: row}) for row in rows]


def _with(line: str, found: Mapping[str, Value]) -> str:
    return _NAME.sub(lambda match: str(found[match[1]]), line)


def _value(key: str, values: Mapping[str, Value], where: str) -> Value:
    if key in values:
        return values[key]
    listed = ", ".join(sorted(values))
    raise _wrong(where, f"没有 @{key}@；可用的：{listed}", f"there is no @{key}@; there are: {listed}")


def _wrong(where: str, zh: str, en: str) -> ConfigError:
    return ConfigError(
        Text(f"{where}：{zh}", f"{where}: {en}"),
        Text("照自带的 job.sh.txt 改", "go by the job.sh.txt that comes with Qianka"),
    )
