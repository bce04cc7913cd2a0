"""What counts for one person in one lab: the grading, and what staff decided beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qianka.policy.adjusting import final_points
from qianka.store.tables import Adjustment, Grade


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A grade (None: nothing graded) with the decisions that hold."""

    grade: Grade | None = None
    override: Adjustment | None = None
    bonus: Adjustment | None = None
    comment: Adjustment | None = None

    @property
    def points(self) -> float | None:
        """What counts in the end; None where there is nothing yet."""
        return final_points(
            None if self.grade is None else self.grade.points,
            None if self.override is None else self.override.points,
            None if self.bonus is None else self.bonus.points,
        )

    @property
    def raw_points(self) -> float | None:
        """As graded, before any penalty."""
        grade = self.grade
        if grade is None:
            return None
        return grade.points + grade.penalty if grade.raw_points is None else grade.raw_points


def gather(grades: Iterable[Grade], adjustments: Iterable[Adjustment]) -> dict[tuple[int, int], Counted]:
    """By (person, lab); of one kind of decision the last of `adjustments` holds."""
    given = {(grade.person_id, grade.lab_id): grade for grade in grades}
    decided: dict[tuple[int, int], dict[str, Adjustment]] = {}
    for row in adjustments:
        decided.setdefault((row.person_id, row.lab_id), {})[row.kind] = row
    return {key: Counted(grade=given.get(key), **decided.get(key, {})) for key in {**given, **decided}}
