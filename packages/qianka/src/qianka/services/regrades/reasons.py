"""Why two gradings differ, check by check, from the feedback that each one gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qianka.errors import Text
from qianka.store.tables import Attempt

Feedback = Mapping[str, Any]
_Key = tuple[str, str, int]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One thing that differs: a check's points and what it says, or the verdict. None: it was not there."""

    kind: str
    """the kind of a check, or verdict, handin, late"""
    title: Text
    before: float | None = None
    after: float | None = None
    was: Text | None = None
    now: Text | None = None


def between(before: Attempt | None, after: Attempt | None) -> list[Change]:
    """What differs between two gradings: another hand-in, the verdict, then checks in their order."""
    found: list[Change] = []
    if before is not None and after is not None and before.submission_id != after.submission_id:
        ids = Text(before.submission_id, before.submission_id), Text(after.submission_id, after.submission_id)
        title = Text("另一份提交计分", "another hand-in counts")
        found.append(Change(kind="handin", title=title, was=ids[0], now=ids[1]))
    if _verdict(before) != _verdict(after):
        found.append(Change(kind="verdict", title=Text("结论", "verdict"), was=_title(before), now=_title(after)))
    then, now = _checks(before), _checks(after)
    for key in dict.fromkeys([*then, *now]):
        old, new = then.get(key), now.get(key)
        if _points(old) == _points(new):
            continue
        found.append(
            Change(
                kind=key[0],
                title=_text((new or old or {}).get("title")) or Text(key[0], key[0]),
                before=_points(old),
                after=_points(new),
                was=None if old is None else _text(old.get("detail")),
                now=None if new is None else _text(new.get("detail")),
            )
        )
    return found


def late(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[Change]:
    """What differs in the penalty for being late."""
    was = 0.0 if before is None else float(before["penalty"])
    if was == after["penalty"]:
        return []
    title = Text("迟交扣分", "penalty for being late")
    return [Change(kind="late", title=title, before=-was, after=-float(after["penalty"]))]


def _verdict(attempt: Attempt | None) -> str | None:
    return None if attempt is None else attempt.verdict


def _title(attempt: Attempt | None) -> Text | None:
    if attempt is None:
        return None
    return _text((attempt.feedback or {}).get("title")) or Text(str(attempt.verdict), str(attempt.verdict))


def _checks(attempt: Attempt | None) -> dict[_Key, Feedback]:
    """The checks by kind and title; the n-th of the same name by its number."""
    found: dict[_Key, Feedback] = {}
    for item in ((attempt.feedback if attempt is not None else None) or {}).get("checks", []):
        kind, title = str(item.get("kind")), str((item.get("title") or {}).get("en"))
        number = sum(key[:2] == (kind, title) for key in found)
        found[kind, title, number] = item
    return found


def _points(item: Feedback | None) -> float | None:
    points = None if item is None else item.get("points")
    return None if points is None else float(points)


def _text(value: Any) -> Text | None:
    return Text(str(value["zh"]), str(value["en"])) if isinstance(value, Mapping) and "zh" in value else None
