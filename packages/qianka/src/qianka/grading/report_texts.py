"""The sentences for items of a paired stage. Nothing of a hidden item is said here but its group and count."""

from __future__ import annotations

from typing import Any

from qianka.errors import Text
from qianka.grading.report import Item

_STATES = {
    "failed": Text("没通过", "failed"),
    "raised": Text("你的代码抛出了异常", "your code raised an exception"),
    "timeout": Text("超过了单次时限", "one call took too long"),
    "ended": Text("你的进程中途退出了（exit、崩溃或内存不足）", "your process ended (exit, a crash, or out of memory)"),
    "gone": Text("你的程序已经不在了", "your program was gone"),
    "late": Text("总时间用完了", "no time was left"),
    "broken": Text("返回的值不对，测试进行不下去", "what came back was not what a test can go on with"),
}


def item_text(item: Item) -> Text:
    """A visible item that did not pass: its name, what went wrong, and where in the student's own files."""
    state = _STATES.get(item.state, _STATES["failed"])
    where = f"{item.file}:{item.line}" if item.file and item.line else ""
    error = ": ".join(part for part in (item.exception or "", item.message) if part)
    rest = " ".join(part for part in (where, error) if part)
    title = Text(item.title.zh or item.name, item.title.en or item.name)
    if not rest:
        return Text(f"{title.zh}：{state.zh}", f"{title.en}: {state.en}")
    return Text(f"{title.zh}：{state.zh}：{rest}", f"{title.en}: {state.en}: {rest}")


def group_text(name: Text, items: list[Item]) -> Text:
    """A group of hidden items: how many passed."""
    passed = sum(item.state == "passed" for item in items)
    return Text(f"{name.zh} {passed}/{len(items)}", f"{name.en} {passed} of {len(items)}")


def item_json(item: Item, hints: bool) -> dict[str, Any]:
    """A visible item in the feedback; with `hints`, the teacher's for one that did not pass."""
    fine = item.state == "passed"
    return {
        "name": item.name,
        "title": item.title._asdict(),
        "state": item.state,
        "points": item.points,
        "earned": item.earned,
        "detail": None if fine else item_text(item)._asdict(),
        "hints": [item.hint._asdict()] if item.hint is not None and hints and not fine else [],
    }


def group_json(name: Text, items: list[Item], hints: bool) -> dict[str, Any]:
    """A group of hidden items in the feedback."""
    found = {item.hint: None for item in items if item.hint is not None and item.state != "passed"} if hints else {}
    return {
        "title": name._asdict(),
        "passed": sum(item.state == "passed" for item in items),
        "total": len(items),
        "points": sum(item.points for item in items),
        "earned": sum(item.earned for item in items),
        "hints": [hint._asdict() for hint in found if hint is not None],
    }
