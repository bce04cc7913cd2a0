"""What a projector shows, as a body of the API."""

from __future__ import annotations

from qianka.errors import NotFound
from qianka.schemas.screens import (
    Screen,
    ScreenBoard,
    ScreenCurve,
    ScreenDate,
    ScreenJob,
    ScreenRow,
    ScreenShown,
)
from qianka.server import curve, machineviews
from qianka.services import boards, labs, screens, top
from qianka.services.platform import Platform
from qianka.services.screens import PROJECTOR, Opened
from qianka.store import tables

MOST = 10


def screen(row: tables.Screen) -> Screen:
    """A projector, without its token."""
    shows = screens.shows_of(row)
    return Screen(
        id=row.id,
        name=row.name,
        scenes=list(shows.scenes),
        seconds=shows.seconds,
        jobs=list(shows.jobs),
        always=shows.always,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
    )


def shown(platform: Platform, found: Opened) -> ScreenShown:
    """Everything its scenes need, and nothing else; nothing at all while it is off."""
    cohort, shows = found.cohort, found.shows
    told = ScreenShown(
        cohort=cohort.slug,
        title=cohort.title,
        zone=cohort.zone,
        now=platform.now(),
        on=found.is_on,
        lesson_starts_at=None if found.lesson is None else found.lesson.start,
        lesson_ends_at=None if found.lesson is None else found.lesson.end,
        next_at=found.next_at,
        scenes=list(shows.scenes),
        seconds=shows.seconds,
    )
    if not found.is_on:
        return told
    if "board" in shows.scenes:
        told.boards = [*_of_labs(platform, cohort.slug), *_of_predictions(platform, cohort.slug)]
    if "queue" in shows.scenes:
        queue = screens.queue_of(platform, cohort)
        told.waiting, told.running = queue.waiting, queue.running
        told.queue = [
            ScreenJob(
                name=alias,
                state=job.state,
                since=job.started_at or job.queued_at,
                gpus=int(job.spec.get("resources", {}).get("gpus", 0)),
            )
            for job, alias in queue.rows
        ]
    if "deadlines" in shows.scenes:
        told.dates = _dates(platform, cohort.slug)
    if "top" in shows.scenes:
        told.top = machineviews.top_of(top.of_week(platform, PROJECTOR, cohort.slug)).lines
    if "jobs" in shows.scenes:
        told.curves = _curves(platform, shows.jobs)
    return told


def _of_labs(platform: Platform, cohort: str) -> list[ScreenBoard]:
    found = []
    for lab in labs.list_labs(platform, PROJECTOR, cohort):
        if lab.opens_at is not None and lab.opens_at > platform.now():
            continue
        try:
            board = boards.board(platform, PROJECTOR, cohort, lab.slug)
        except NotFound:
            continue  # a lab without a metric ranks nobody
        if board.rows:
            found.append(_board(board.title, board.title_en, board.metric, board.rows))
    return found


def _of_predictions(platform: Platform, cohort: str) -> list[ScreenBoard]:
    found = []
    for opened, phase in boards.list_boards(platform, PROJECTOR, cohort):
        if phase == "unopened":
            continue
        ranking = boards.ranking(platform, PROJECTOR, cohort, opened.row.slug)
        if ranking.rows:
            found.append(_board(opened.row.title, opened.row.title_en, opened.row.metric, ranking.rows))
    return found


def _board(title: str, title_en: str, metric: str, rows: list[boards.Row]) -> ScreenBoard:
    ranked = [row for row in rows if row.rank is not None]
    return ScreenBoard(
        title=title,
        title_en=title_en,
        metric=metric,
        total=len(ranked),
        rows=[ScreenRow(rank=row.rank, name=row.name, score=row.score, bonus=row.bonus) for row in ranked[:MOST]],
    )


def _dates(platform: Platform, cohort: str) -> list[ScreenDate]:
    now = platform.now()
    coming = [
        ScreenDate(title=lab.title, title_en=lab.title_en, due_at=lab.due_at)
        for lab in labs.list_labs(platform, PROJECTOR, cohort)
        if lab.due_at is not None and lab.due_at > now and (lab.opens_at is None or lab.opens_at <= now)
    ]
    return sorted(coming, key=lambda date: date.due_at)[:6]


def _curves(platform: Platform, job_ids: tuple[str, ...]) -> list[ScreenCurve]:
    aliases = screens.aliases_of(platform, job_ids)
    found = []
    for job_id in job_ids:
        if job_id in aliases:
            points = curve.thinned(curve.of_job(platform, PROJECTOR, job_id), 300)
            losses = [(point.step, point.values.get("loss")) for point in points]
            line = [[float(step), float(loss)] for step, loss in losses if loss is not None]
            found.append(ScreenCurve(name=aliases[job_id], points=line))
    return found
