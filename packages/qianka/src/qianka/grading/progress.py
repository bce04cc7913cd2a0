"""What to do next with an attempt, from the states of its jobs: a pure function, the grader's whole memory.

train → predict → judge; style, tests and notebook as soon as the first stage has begun; repeats and the
reference only for a hand-in that passes. The same states always give the same step, so a restart at any
moment changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from qianka.domain.jobs import JobState
from qianka.grading.model import Lab

ReferenceState = Literal["unneeded", "waiting", "ready", "failed"]


@dataclass(frozen=True)
class Step:
    """Submit these stages, wait, or judge (`judge` true: all that will come is there)."""

    submit: tuple[str, ...] = ()
    judge: bool = False


def next_step(lab: Lab, states: Mapping[str, JobState]) -> Step:
    """The next step up to the judge stage; `states`: by stage, missing where no job was made."""
    beside = [*(check.kind for check in lab.paired), *(["style"] if lab.style is not None else [])]
    first = "train" if lab.train is not None else beside[0]
    if first not in states:
        return Step(submit=(first,))
    wanted = []
    if states[first] not in (JobState.PENDING, JobState.CANCELLED):
        wanted = [name for name in beside if name not in states]
    train = states.get("train")
    if train is JobState.COMPLETED and "predict" not in states:
        wanted.append("predict")
    if states.get("predict") is JobState.COMPLETED and "judge" not in states:
        wanted.append("judge")
    if wanted:
        return Step(submit=tuple(wanted))
    return Step(judge=all(state.ended for state in states.values()))


def last_step(
    lab: Lab,
    states: Mapping[str, JobState],
    *,
    passed: bool,
    reference: ReferenceState,
    repeats: tuple[str, ...],
) -> Step:
    """The step after the judge stage: a hand-in that passes waits for the reference, then for its repeats."""
    if not passed or not lab.compared or reference in ("unneeded", "failed"):
        return Step(judge=True)
    if reference == "waiting":
        return Step()
    missing = tuple(name for name in repeats if name not in states)
    return Step(submit=missing) if missing else Step(judge=True)
