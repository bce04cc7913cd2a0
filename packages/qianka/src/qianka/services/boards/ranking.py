"""A board of predictions as one caller sees it: the public ranking, and after the reveal the private one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from qianka.errors import Conflict, Forbidden, Text
from qianka.grading.ranking import Entry, rank, top_share
from qianka.services import access
from qianka.services.boards.allowance import Allowance, allowance_of, check_open
from qianka.services.boards.entering import door_at
from qianka.services.boards.lab import Row
from qianka.services.boards.loading import FINAL, Opened, opened
from qianka.services.boards.names import named
from qianka.services.platform import Caller, Platform
from qianka.services.submissions.limits import shown as shown_time
from qianka.store.repos import boards as repo


@dataclass(frozen=True)
class Ranking:
    """The rows of a board in its phase; `is_private`: by the private part, from the entries chosen."""

    board: Opened
    phase: str
    is_private: bool
    rows: list[Row]
    allowance: Allowance | None
    """what the caller may still enter; None for who enters nothing (suspended, the platform)"""


def ranking(
    platform: Platform, caller: Caller, cohort_slug: str, board_slug: str, *, private: bool | None = None
) -> Ranking:
    """Best first, ties share a rank (1, 2, 2, 4), inside a tie whoever reached it earlier stands above.

    `private` None: the private ranking once it is revealed. Staff may look at it before. Raises NotFound,
    Forbidden, and Conflict before the opening.
    """
    now = platform.now()
    with platform.store.reading() as session:
        board = opened(session, caller, cohort_slug, board_slug)
        phase = board.phase(now)
        is_private = phase == FINAL if private is None else private
        is_staff = access.is_staff(session, caller, board.cohort.id)
        if not is_staff:
            check_open(board, now)
        if is_private and phase != FINAL and not is_staff:
            raise _hidden(board)
        left = _allowance(session, caller, board, now, is_staff=is_staff)
        names = named(session, caller, board.cohort, board.row.slug, grouped=board.rules.group > 1, is_staff=is_staff)
        found = repo.standings(session, board.row.id, private=is_private)
    standings = [row for row in found if row.owner in names]
    entries = [
        Entry(person=place, score=row.score, at=row.at or board.row.created_at) for place, row in enumerate(standings)
    ]
    ranked = rank(entries, board.metric, board.row.digits)
    bonus = {row.entry.person for row in top_share(ranked, board.rules.bonus)}
    rows = []
    for row in ranked:
        standing = standings[row.entry.person]
        who = names[standing.owner]
        rows.append(
            Row(
                rank=row.rank,
                name=who.name,
                score=row.shown,
                at=row.entry.at,
                bonus=row.entry.person in bonus,
                mine=who.is_mine,
                entries=standing.entries,
            )
        )
    return Ranking(board, phase, is_private, rows, left)


def _allowance(session: Session, caller: Caller, board: Opened, now: datetime, *, is_staff: bool) -> Allowance | None:
    try:
        door = door_at(session, caller, board, is_staff=is_staff)
    except (Forbidden, Conflict):
        return None
    return allowance_of(session, board, door.person.id, door.group_id, now, is_staff=is_staff)


def list_boards(platform: Platform, caller: Caller, cohort_slug: str) -> list[tuple[Opened, str]]:
    """The boards of predictions of a cohort with their phases; students see those that have opened."""
    now = platform.now()
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        is_staff = access.is_staff(session, caller, cohort.id)
        found = [opened(session, caller, cohort_slug, row.slug) for row in repo.of_cohort(session, cohort.id)]
    return [(one, one.phase(now)) for one in found if is_staff or one.phase(now) != "unopened"]


def get(platform: Platform, caller: Caller, cohort_slug: str, board_slug: str) -> tuple[Opened, str]:
    """A board and its phase. Raises NotFound."""
    with platform.store.reading() as session:
        board = opened(session, caller, cohort_slug, board_slug)
    return board, board.phase(platform.now())


def _hidden(board: Opened) -> Forbidden:
    at: datetime | None = board.row.reveal_at or board.row.due_at
    when = None if at is None else shown_time(at, board.cohort.zone)
    return Forbidden(
        Text("私有排名还没有公布", "the private ranking is not shown yet"),
        None if when is None else Text(f"{when} 公布", f"it is shown at {when}"),
        reason="not_revealed",
    )
