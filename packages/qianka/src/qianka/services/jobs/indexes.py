"""The indexes of a job array in Slurm's own notation: `0-9`, `1,3,7`, `0-9:2`, and `%N` for how many run at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qianka.errors import BadInput, OverLimit, Text

LARGEST = 4_000_000
"""the largest index that Slurm itself takes"""
_DIGITS = r"\d{1,7}"
_PART = re.compile(rf"({_DIGITS})(?:-({_DIGITS})(?::({_DIGITS}))?)?", re.ASCII)
_MOST = re.compile(_DIGITS, re.ASCII)


@dataclass(frozen=True)
class Indexes:
    """The indexes of an array, ascending and each once; `most`: how many of its jobs run at once (None: any)."""

    values: tuple[int, ...]
    most: int | None = None

    @property
    def step(self) -> int:
        """The distance of neighbours where it is the same everywhere, else 1."""
        steps = {after - before for before, after in zip(self.values, self.values[1:], strict=False)}
        return steps.pop() if len(steps) == 1 else 1


def parse(text: str, limit: int) -> Indexes:
    """Raises BadInput (not readable) and OverLimit (more than `limit` indexes); counted before any list is made."""
    listed, percent, most = text.replace(" ", "").partition("%")
    if percent and not (_MOST.fullmatch(most) and int(most) > 0):
        raise _bad(text, "% 后面是同时运行的个数，至少 1", "after % comes how many run at once, at least 1")
    found: set[int] = set()
    for part in listed.split(","):
        found.update(_range(text, part, limit))
        if len(found) > limit:
            raise _many(limit)
    return Indexes(tuple(sorted(found)), int(most) if percent else None)


def _range(text: str, part: str, limit: int) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise _bad(text, f"{part[:40]!r} 看不懂", f"{part[:40]!r} is not understood")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    step = 1 if match[3] is None else int(match[3])
    if last < first or step < 1 or last > LARGEST:
        raise _bad(
            text,
            f"{part} 应从小到大，步长至少 1，序号不超过 {LARGEST}",
            f"{part} must ascend, by a step of at least 1, to an index of at most {LARGEST}",
        )
    found = range(first, last + 1, step)
    if len(found) > limit:
        raise _many(limit)
    return found


def _bad(text: str, zh: str, en: str) -> BadInput:
    return BadInput(
        Text(f"--array {text[:80]}：{zh}", f"--array {text[:80]}: {en}"),
        Text("如 0-9、1,3,7、0-9:2、0-99%4", "such as 0-9, 1,3,7, 0-9:2, 0-99%4"),
        reason="array",
    )


def _many(limit: int) -> OverLimit:
    return OverLimit(
        Text(f"--array：一个数组至多 {limit} 个任务", f"--array: an array holds {limit} jobs at most"),
        Text(
            "分成几个数组提交，或请管理员调大 queue.array_most",
            "split it, or ask the operator for a larger queue.array_most",
        ),
        reason="array_most",
        limit=limit,
    )
