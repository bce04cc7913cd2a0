"""Boards as bodies of the API."""

from __future__ import annotations

from qianka.errors import Language
from qianka.schemas.boards import Board, Entry
from qianka.services import boards
from qianka.services.platform import Caller, Platform


def board(
    platform: Platform, caller: Caller, cohort: str, lab: str, language: Language, limit: int, by: str = "score"
) -> Board:
    """The first `limit` lines of a board, by score or by efficiency. Raises NotFound."""
    make = boards.efficiency if by == "efficiency" else boards.board
    found = make(platform, caller, cohort, lab)
    return Board(
        cohort=cohort,
        lab=found.lab,
        lab_id=found.lab_id,
        title=found.title_en or found.title if language == "en" else found.title,
        metric=found.metric,
        higher_is_better=found.higher_is_better,
        entries=[Entry.model_validate(row) for row in found.rows[:limit]],
        total=len(found.rows),
        unit=found.unit,
    )
