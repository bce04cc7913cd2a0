"""Boards of predictions as bodies of the API, in the caller's language."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from qianka import intake
from qianka.errors import Forbidden, Language
from qianka.grading.entry_texts import refused
from qianka.grading.ranking import shown
from qianka.schemas.boards import Entry
from qianka.schemas.predictions import Allowance, EnteredFile, EntryProblem, PredictionBoard, PredictionEntry
from qianka.schemas.predictions import PredictionRanking as Ranking
from qianka.server import publishing
from qianka.services import boards, submissions
from qianka.services.platform import Caller, Platform
from qianka.store.repos import boards as repo
from qianka.store.tables import EntryReceipt

_FOLDER = 512 << 20
"""bytes of a board's folder, unpacked"""


def board(found: boards.Opened, phase: str) -> PredictionBoard:
    """A board's rules and dates."""
    return PredictionBoard(**_facts(found, phase))


def ranking(
    platform: Platform, caller: Caller, cohort: str, name: str, language: Language, limit: int, private: bool | None
) -> Ranking:
    """The first `limit` lines of a board, and what the caller may still enter. Raises NotFound, Forbidden."""
    found = boards.ranking(platform, caller, cohort, name, private=private)
    return Ranking(
        **_facts(found.board, found.phase),
        private=found.is_private,
        entries=[Entry.model_validate(row) for row in found.rows[:limit]],
        total=len(found.rows),
        allowance=None if found.allowance is None else _allowance(found.allowance, language),
    )


def allowance(platform: Platform, caller: Caller, cohort: str, name: str, language: Language) -> Allowance | None:
    """What the caller may still enter; None for who enters nothing (suspended, the platform)."""
    try:
        return _allowance(boards.allowance_now(platform, caller, cohort, name), language)
    except Forbidden:
        return None


def _allowance(found: boards.Allowance, language: Language) -> Allowance:
    return Allowance(
        left=found.left,
        a_day=found.day.limit,
        used_today=found.day.used,
        resets_at=found.day.resets_at,
        sentence=found.sentence.say(language),
    )


def entry(found: boards.FoundEntry, language: Language) -> PredictionEntry:
    """One entry; of its scores what the caller may see."""
    row, board = found.entry, found.board
    problems = list((row.refusal or {}).get("problems", []))
    with_public = found.is_staff or found.with_private or not board.rules.ladder
    return PredictionEntry(
        id=row.id,
        board=board.row.slug,
        login=found.person.login,
        group=row.group_id,
        filename=row.filename,
        size=row.size,
        sha256=row.sha256,
        state=row.state,
        message=_message(row.state, problems, language),
        problems=[
            EntryProblem(code=one["code"], count=one["count"], message=one[language], first=one["first"])
            for one in problems
        ],
        shown=shown(row.shown, board.row.digits) if row.state == repo.SCORED else None,
        public=row.public if with_public else None,
        private=row.private if found.with_private else None,
        charged=row.charged,
        selected=row.selected,
        submitted_at=row.submitted_at,
    )


def entered(
    platform: Platform, caller: Caller, cohort: str, name: str, result: boards.Entered, language: Language
) -> EnteredFile:
    """What became of a file."""
    found = boards.get_entry(platform, caller, result.entry.id)
    return EnteredFile(
        entry=entry(found, language),
        receipt=None if result.receipt is None else receipt_file(platform, result.receipt),
        again=result.again,
        allowance=allowance(platform, caller, cohort, name, language),
    )


def receipt_file(platform: Platform, receipt: EntryReceipt) -> str:
    """A receipt as the file that people keep and `qianka receipt verify` reads."""
    return submissions.render_receipt(platform, receipt.body, receipt.signature)


def create(
    platform: Platform, caller: Caller, cohort: str, archive: Path, name: str, kaggle: dict[str, Any] | None
) -> PredictionBoard:
    """Make a board of a zipped folder; `kaggle`: of the form that Kaggle has, with these rules."""
    publishing.require_teacher(platform, caller, cohort)
    rules = intake.Rules(
        max_archive=platform.settings.server_upload_mb * 1_000_000, max_bytes=_FOLDER, max_file=_FOLDER
    )
    with tempfile.TemporaryDirectory(dir=platform.folders.incoming, prefix="board-") as scratch:
        folder = Path(scratch) / intake.take(archive, Path(scratch), rules, f"{name}.zip").digest
        if kaggle is None:
            boards.create(platform, caller, cohort, folder, name)
        else:
            boards.import_kaggle(platform, caller, cohort, folder, name, **kaggle)
    return board(*boards.get(platform, caller, cohort, name))


def _message(state: str, problems: list[dict[str, Any]], language: Language) -> str | None:
    if state == "failed":
        zh, en = (
            "平台没能算出分数；这不占次数，稍后再交",
            "the platform could not score it; no try is used, enter it again later",
        )
        return zh if language == "zh" else en
    return refused(problems).message.say(language) if problems else None


def _facts(found: boards.Opened, phase: str) -> dict[str, Any]:
    row, rules = found.row, found.rules
    return {
        "id": row.id,
        "cohort": found.cohort.slug,
        "slug": row.slug,
        "title": row.title,
        "title_en": row.title_en,
        "metric": row.metric,
        "higher_is_better": found.metric.higher_is_better,
        "digits": row.digits,
        "phase": phase,
        "opens_at": row.opens_at,
        "due_at": row.due_at,
        "reveal_at": row.reveal_at,
        "zone": found.cohort.zone,
        "id_column": rules.id_column,
        "column": rules.column,
        "labels": None if rules.labels is None else list(rules.labels),
        "max_bytes": rules.max_bytes,
        "a_day": rules.a_day,
        "a_week": rules.a_week,
        "limit_in_all": rules.total,
        "selections": rules.selections,
        "bonus": rules.bonus,
        "ladder": rules.ladder,
        "group_size": rules.group,
        "has_sample": row.sample_sha256 is not None,
    }
