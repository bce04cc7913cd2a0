"""What a lab.toml may say on being late."""

from __future__ import annotations

from pathlib import Path

import pytest
from qianka.grading import labfile
from qianka.grading.reader import LabError
from qianka.policy.lateness import LatePolicy
from qianka.testing.labfolders import LAB_TOML


def parse(*lines: str) -> LatePolicy:
    text = LAB_TOML.replace("[handin]\n", "\n".join(["[handin]", *lines, ""]))
    return labfile.parse(text, Path("lab")).handin.policy


def test_without_a_word_late_ones_are_marked_with_five_minutes_of_grace() -> None:
    assert parse() == LatePolicy(mode="mark", grace_seconds=300)


def test_everything_that_can_be_said() -> None:
    found = parse(
        'late = "penalty"',
        "late_steps = [0.1, 0.3]",
        "late_cap = 0.5",
        "late_floor = 0.2",
        "late_most_days = 7",
        "late_budget_days = 0",
        "grace_seconds = 1",
    )
    assert found == LatePolicy(
        mode="penalty", grace_seconds=1, steps=(0.1, 0.3), cap=0.5, floor=0.2, most_days=7, budget_days=0
    )


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        (['late = "penalty"'], "handin.late"),
        (['late = "penalty"', "late_penalty = 0.1", "late_steps = [0.1]"], "handin.late"),
        (["late_penalty = 0.1"], "handin.late_penalty"),
        (['late = "penalty"', "late_penalty = 10"], "handin.late_penalty"),
        (['late = "penalty"', "late_steps = [0.3, 0.1]"], "handin.late_steps"),
        (['late = "penalty"', "late_steps = [true]"], "handin.late_steps"),
        (['late = "penalty"', "late_penalty = 0.1", "late_most_days = 0"], "handin.late_most_days"),
        (['late = "refuse"', "late_most_days = 3"], "handin.late_most_days"),
        (['late = "sometimes"'], "handin.late"),
    ],
)
def test_what_makes_no_sense_is_named(lines: list[str], key: str) -> None:
    with pytest.raises(LabError) as refused:
        parse(*lines)
    assert key in [problem.key for problem in refused.value.problems]
