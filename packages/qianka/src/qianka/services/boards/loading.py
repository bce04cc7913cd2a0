"""A board of predictions with its rules, its phase, and the hidden answers it is scored by."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from sqlalchemy.orm import Session

from qianka.errors import NotFound, PlatformFault, Text
from qianka.grading import answers as reading
from qianka.grading.answers import Answers
from qianka.grading.boardfile import BoardError
from qianka.grading.boardmodel import BoardRules
from qianka.grading.metrics import METRICS, Metric
from qianka.services import access
from qianka.services.platform import Caller, Platform
from qianka.services.submissions.storage import archive_path
from qianka.store.repos import boards as repo
from qianka.store.tables import Board, Cohort

UNOPENED, OPEN, CLOSED, FINAL = "unopened", "open", "closed", "final"


@dataclass(frozen=True)
class Opened:
    """A board that the caller may see, with its rules read."""

    cohort: Cohort
    row: Board
    rules: BoardRules

    @property
    def metric(self) -> Metric:
        return METRICS[self.row.metric]

    @property
    def topic(self) -> str:
        """Where its events are told."""
        return f"board:{self.row.id}"

    def phase(self, now: datetime) -> str:
        """unopened, open, closed (past the deadline, private ranking not shown yet), or final."""
        row = self.row
        if row.opens_at is not None and now < row.opens_at:
            return UNOPENED
        if row.due_at is None or now <= row.due_at:
            return OPEN
        return FINAL if now >= (row.reveal_at or row.due_at) else CLOSED


def opened(session: Session, caller: Caller, cohort_slug: str, board_slug: str) -> Opened:
    """The board of that name. Raises NotFound."""
    cohort = access.cohort_for(session, caller, cohort_slug)
    row = repo.by_slug(session, cohort.id, board_slug)
    if row is None:
        raise NotFound(
            Text(f"这门课里没有名为 {board_slug} 的排行榜", f"there is no board named {board_slug} in this cohort"),
            Text("用 qianka board list 查看有哪些", "see which there are: qianka board list"),
            reason="no_board",
        )
    return Opened(cohort, row, BoardRules.from_json(row.rules))


def of_row(session: Session, row: Board) -> Opened:
    """A board from its row. Raises PlatformFault for a torn one."""
    cohort = session.get(Cohort, row.cohort_id)
    if cohort is None:
        raise PlatformFault(Text("排行榜的课程班不见了", "the cohort of a board is gone"))
    return Opened(cohort, row, BoardRules.from_json(row.rules))


def answers_of(platform: Platform, board: Opened) -> Answers:
    """The hidden answers, split. Raises PlatformFault when they are gone: never anybody's fault but ours."""
    row = board.row
    rules = json.dumps(board.rules.as_json(), sort_keys=True)
    try:
        return _answers(archive_path(platform, row.answers_sha256), rules, row.metric, row.secret)
    except (OSError, BoardError) as error:
        raise PlatformFault(
            Text(f"排行榜 {row.slug} 的答案读不出来", f"the answers of board {row.slug} cannot be read"),
            Text("这不占次数；管理员：从备份恢复 blobs 目录", "this costs no try; administrator: restore the blobs"),
            reason="lost_answers",
        ) from error


@lru_cache(maxsize=16)
def _answers(path: Path, rules: str, metric: str, secret: str) -> Answers:
    return reading.read(path.read_bytes(), BoardRules.from_json(json.loads(rules)), metric, secret)
