"""One grading done again with what it was done with, to see whether the same comes out. It never counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qianka.errors import Conflict, NotFound, Text
from qianka.ids import new_id
from qianka.services import access, audit
from qianka.services.platform import Caller, Platform
from qianka.services.regrades import reasons
from qianka.services.regrades.reasons import Change
from qianka.store.repos import attempts as attempt_repo
from qianka.store.tables import Attempt, Lab

_DIGESTS = {
    "platform": Text("平台版本", "version of the platform"),
    "lab_version": Text("实验版本", "version of the lab"),
    "tree_sha256": Text("提交的文件", "files of the hand-in"),
    "seed_sha256": Text("隐藏数据的种子", "seed of the hidden data"),
}


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """A grading and its replay; `same`: None while it runs, or where the platform failed."""

    original: Attempt
    replay: Attempt
    same: bool | None
    changes: list[Change]
    environment: list[Text]
    """what differed in the conditions"""


def replay(platform: Platform, caller: Caller, attempt_id: str) -> Attempt:
    """Grade again by the same version, compared with the stored reference figures; for staff, free of charge.

    Raises NotFound, Forbidden, Conflict (not graded yet).
    """
    with platform.store.transaction() as session:
        original = access.attempt_for(session, caller, attempt_id)
        lab = session.get(Lab, original.lab_id)
        access.require_staff(session, caller, -1 if lab is None else lab.cohort_id)
        if original.state != "done":
            raise Conflict(
                Text("这次评分还没有结束", "this grading has not ended"),
                Text("等它结束后再重放", "replay it once it has"),
                reason="under_way",
            )
        made = Attempt(
            id=new_id("a"),
            submission_id=original.submission_id,
            lab_id=original.lab_id,
            person_id=original.person_id,
            number=min(0, attempt_repo.first_number(session, original.submission_id)) - 1,
            why="replay",
            counts=False,
            replay_of=original.id,
            state="queued",
            lab_version=original.lab_version,
            queued_at=platform.now(),
        )
        session.add(made)
        audit.record(session, platform, caller, "attempt.replay", f"attempt:{original.id}", replay=made.id)
    platform.wake_worker()
    return made


def replayed(platform: Platform, caller: Caller, attempt_id: str) -> Replayed:
    """How a replay came out beside its original; for staff. Raises NotFound."""
    with platform.store.reading() as session:
        made = access.attempt_for(session, caller, attempt_id)
        original = None if made.replay_of is None else session.get(Attempt, made.replay_of)
    if original is None:
        raise NotFound(
            Text(f"{attempt_id} 不是重放", f"{attempt_id} is no replay"),
            Text("先运行 qianka grades replay", "first: qianka grades replay"),
            reason="no_replay",
        )
    same = None
    changes: list[Change] = []
    if made.state == "done" and made.verdict != "infra_error":
        same = (made.verdict, made.points) == (original.verdict, original.points)
        changes = reasons.between(original, made)
    told = differences(original.conditions, made.conditions) if made.state == "done" else []
    return Replayed(original=original, replay=made, same=same, changes=changes, environment=told)


def differences(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> list[Text]:
    """What differs between the conditions of two gradings, in sentences; [] when nothing does."""
    if then is None or now is None:
        return [Text("原来的评分没有留下环境记录", "the conditions of the first grading were not recorded")]
    found = []
    for key, name in _DIGESTS.items():
        was, became = then.get(key), now.get(key)
        if was != became:
            found.append(
                Text(f"{name.zh}：{_short(was)} → {_short(became)}", f"{name.en}: {_short(was)} → {_short(became)}")
            )
    found += _environments(then.get("environment"), now.get("environment"))
    nodes = sorted(set((then.get("nodes") or {}).values())), sorted(set((now.get("nodes") or {}).values()))
    if nodes[0] != nodes[1]:
        was, became = ", ".join(nodes[0]), ", ".join(nodes[1])
        found.append(Text(f"机器：{was} → {became}", f"machine: {was} → {became}"))
    return found


def _environments(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> list[Text]:
    was, became = then or {}, now or {}
    if was.get("digest") == became.get("digest"):
        return []
    found = []
    if was.get("python") != became.get("python"):
        found.append(
            Text(
                f"Python：{was.get('python')} → {became.get('python')}",
                f"Python: {was.get('python')} → {became.get('python')}",
            )
        )
    old, new = set(was.get("packages") or ()), set(became.get("packages") or ())
    gone, come = ", ".join(sorted(old - new)) or "-", ", ".join(sorted(new - old)) or "-"
    if old != new:
        found.append(Text(f"学生环境的包：{gone} → {come}", f"packages of the runtime: {gone} → {come}"))
    if was.get("kit") != became.get("kit"):
        found.append(Text("qianka_kit 变了", "qianka_kit has changed"))
    return found or [Text("学生环境变了", "the student runtime has changed")]


def _short(value: Any) -> str:
    return "-" if value is None else str(value)[:12]
