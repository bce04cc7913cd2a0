"""Where an owner stands: a pure function of their entries that count, made anew whenever one changes.

The order of recording is the order of the Ladder; a withdrawn entry is as if it had never been.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from qianka.grading import ladder, predictions, scoring
from qianka.grading.answers import Answers
from qianka.grading.ladder import Rung
from qianka.grading.metrics import Metric
from qianka.grading.ranking import shown
from qianka.services.boards.loading import Opened
from qianka.services.platform import Platform
from qianka.services.submissions.storage import archive_path
from qianka.store.repos import boards as repo
from qianka.store.tables import Entry, Standing


class Scores(NamedTuple):
    """What one file is worth; `losses` of its public rows, for the Ladder."""

    public: float
    private: float
    losses: Sequence[float]


class Best(NamedTuple):
    """The entry that ranks."""

    entry: str
    score: float
    at: datetime


def score(found: Sequence[Any], answers: Answers, metric: str, *, with_losses: bool) -> Scores:
    """Score predictions. Raises scoring.Undefined, ArithmeticError."""
    public = answers.part(answers.truth, answers.public), answers.part(found, answers.public)
    private = answers.part(answers.truth, answers.private), answers.part(found, answers.private)
    if not with_losses:
        return Scores(scoring.score(metric, *public), scoring.score(metric, *private), ())
    value, losses = scoring.score_and_losses(metric, *public)
    return Scores(value, scoring.score(metric, *private), losses)


def best(entries: Sequence[tuple[str, float | None, datetime]], metric: Metric, digits: int) -> Best | None:
    """The best of (id, score, instant) in the order of recording: better as shown, else the earlier one stays."""
    found: Best | None = None
    for entry, value, at in entries:
        text = shown(value, digits)
        if text is None or value is None:
            continue
        if found is None or metric.better(float(text), float(shown(found.score, digits) or text)):
            found = Best(entry, value, at)
    return found


def chosen(entries: Sequence[Any], metric: Metric, selections: int) -> set[str]:
    """Ids of the entries that count in private: those selected, else the best public ones, the earlier of equals."""
    picked = {row.id for row in entries if row.selected}
    if picked:
        return picked
    sign = -1.0 if metric.higher_is_better else 1.0
    ranked = sorted((row for row in entries if row.public is not None), key=lambda row: sign * row.public)
    return {row.id for row in ranked[:selections]}


def renew(session: Session, board: Opened, owner: str) -> Standing | None:
    """Make the standing of an owner what their entries say; the Ladder's state stays as it is."""
    session.flush()
    rows = repo.scored_facts(session, board.row.id, owner)
    if not rows:
        repo.drop_standing(session, board.row.id, owner)
        return None
    metric, digits = board.metric, board.row.digits
    public = best([(row.id, row.shown, row.submitted_at) for row in rows], metric, digits)
    picked = chosen(rows, metric, board.rules.selections)
    private = best([(row.id, row.private, row.submitted_at) for row in rows if row.id in picked], metric, digits)
    standing = repo.standing(session, board.row.id, owner)
    if standing is None:
        standing = Standing(board_id=board.row.id, owner=owner)
        session.add(standing)
    standing.entries = len(rows)
    standing.public_entry, standing.public, standing.public_at = public or (None, None, None)
    standing.private_entry, standing.private, standing.private_at = private or (None, None, None)
    session.flush()
    return standing


def step(session: Session, board: Opened, entry: Entry, losses: Sequence[float]) -> None:
    """Set what is shown after a new entry, and let the owner climb where the Ladder admits it."""
    if not board.rules.ladder or entry.public is None:
        entry.shown = entry.public
        renew(session, board, entry.owner)
        return
    before = repo.standing(session, board.row.id, entry.owner)
    stands = None
    if before is not None and before.ladder is not None and before.losses is not None:
        stands = Rung(before.ladder["shown"], ladder.unpack(before.losses))
    rung = ladder.climb(stands, entry.public, losses, board.metric)
    entry.shown = (rung or stands or Rung(entry.public, losses)).shown
    standing = renew(session, board, entry.owner)
    if standing is not None and rung is not None:
        standing.ladder = {"entry": entry.id, "shown": rung.shown}
        standing.losses = ladder.pack(losses)


def rebuild(session: Session, platform: Platform, board: Opened, answers: Answers, owner: str) -> int:
    """Score all entries of an owner from their files again, in their order; how many got another score.

    An entry whose file is gone or no longer fits the answers becomes failed: it is not ranked.
    """
    entries = repo.scored(session, board.row.id, owner)
    repo.drop_standing(session, board.row.id, owner)
    stands: Rung | None = None
    at, changed = "", 0
    for entry in entries:
        before = entry.public, entry.private
        try:
            with archive_path(platform, entry.sha256).open("rb") as file:
                found = predictions.read(file, answers.columns, answers.rows)
            scores = score(found, answers, board.row.metric, with_losses=board.rules.ladder)
        except (OSError, predictions.BadPredictions, scoring.Undefined, ArithmeticError):
            entry.state, entry.public, entry.private, entry.shown = "failed", None, None, None
            entry.charged = False
            changed += 1
            continue
        entry.public, entry.private, entry.shown = scores.public, scores.private, scores.public
        if board.rules.ladder:
            rung = ladder.climb(stands, scores.public, scores.losses, board.metric)
            stands, at = (stands, at) if rung is None else (rung, entry.id)
            entry.shown = scores.public if stands is None else stands.shown
        changed += before != (entry.public, entry.private)
    standing = renew(session, board, owner)
    if standing is not None and stands is not None:
        standing.ladder = {"entry": at, "shown": stands.shown}
        standing.losses = ladder.pack(stands.losses)
    return changed
