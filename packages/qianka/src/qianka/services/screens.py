"""Projectors of a cohort: made by its staff, and what their token may read. They know aliases, never names."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.errors import BadInput, NotFound, NotSignedIn, Text
from qianka.policy import timetable
from qianka.services import access, audit
from qianka.services.platform import Caller, Platform
from qianka.store.repos import screens as repo
from qianka.store.tables import Cohort, Job, Screen

SCENES = ("board", "queue", "deadlines", "top", "jobs")
BEFORE = timedelta(minutes=5)
"""how long before a class it starts by itself"""
DAYS = 200
MOST_JOBS = 4
_SEEN_EVERY = timedelta(minutes=1)
PROJECTOR = Caller(person_id=None, login="screen", is_admin=True, by_alias=True)
"""as whom boards are read for a projector: everything of the cohort, by alias; only this module and its views use it"""


@dataclass(frozen=True, kw_only=True)
class Shows:
    """What a projector shows: scenes in turn, `seconds` each; `jobs` are those whose curves are compared.

    `always`: also outside of classes.
    """

    scenes: tuple[str, ...] = SCENES[:4]
    seconds: int = 15
    jobs: tuple[str, ...] = ()
    always: bool = False

    def as_json(self) -> dict[str, object]:
        """As `screen.shows` has it."""
        return {"scenes": list(self.scenes), "seconds": self.seconds, "jobs": list(self.jobs), "always": self.always}


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A projector that was let in: `lesson` is the class that goes on or is about to, `next_at` the one after."""

    screen: Screen
    cohort: Cohort
    shows: Shows
    lesson: timetable.Lesson | None
    next_at: datetime | None
    has_timetable: bool

    @property
    def is_on(self) -> bool:
        """Whether it shows its scenes; else a clock."""
        return self.shows.always or not self.has_timetable or self.lesson is not None


@dataclass(frozen=True)
class Queue:
    """Who waits and who runs, by alias, oldest first."""

    waiting: int
    running: int
    rows: list[tuple[Job, str]]


def make(platform: Platform, caller: Caller, cohort_slug: str, name: str, shows: Shows) -> tuple[Screen, str]:
    """A projector and its token, which is shown this once; for staff. Raises BadInput for what it cannot show."""
    secret = "qp_" + secrets.token_urlsafe(32)
    with platform.store.transaction() as session:
        cohort = _staffed(session, caller, cohort_slug)
        _check(session, caller, cohort, shows)
        screen = Screen(
            cohort_id=cohort.id,
            name=name.strip(),
            secret_hash=access.hash_secret(secret),
            shows=shows.as_json(),
            created_at=platform.now(),
            expires_at=platform.now() + timedelta(days=DAYS),
        )
        session.add(screen)
        session.flush()
        audit.record(session, platform, caller, "screen.create", f"screen:{screen.id}", name=screen.name)
    return screen, secret


def list_screens(platform: Platform, caller: Caller, cohort_slug: str) -> list[Screen]:
    """The projectors of a cohort, for staff."""
    with platform.store.reading() as session:
        return repo.of_cohort(session, _staffed(session, caller, cohort_slug).id)


def change(platform: Platform, caller: Caller, cohort_slug: str, screen_id: int, shows: Shows) -> Screen:
    """What it shows from now on; for staff. Raises NotFound, BadInput."""
    with platform.store.transaction() as session:
        cohort = _staffed(session, caller, cohort_slug)
        screen = _of(session, cohort, screen_id)
        _check(session, caller, cohort, shows)
        screen.shows = shows.as_json()
        audit.record(session, platform, caller, "screen.change", f"screen:{screen.id}", **shows.as_json())
    return screen


def revoke(platform: Platform, caller: Caller, cohort_slug: str, screen_id: int) -> None:
    """Its token is worthless from now on; for staff. Raises NotFound."""
    with platform.store.transaction() as session:
        screen = _of(session, _staffed(session, caller, cohort_slug), screen_id)
        screen.revoked_at = platform.now()
        audit.record(session, platform, caller, "screen.revoke", f"screen:{screen.id}")


def opened(platform: Platform, secret: str) -> Opened:
    """The projector that holds `secret`. Raises NotSignedIn when it is unknown, revoked or expired."""
    now = platform.now()
    with platform.store.reading() as session:
        screen = repo.by_hash(session, access.hash_secret(secret))
        cohort = None if screen is None else session.get(Cohort, screen.cohort_id)
    if screen is None or cohort is None or screen.revoked_at is not None or screen.expires_at <= now:
        raise NotSignedIn(
            Text("这个投屏链接已失效", "this projector's link no longer works"),
            Text("教师在“投屏”页再做一个", "staff makes a new one on the page of projectors"),
            reason="screen",
        )
    if screen.last_used_at is None or now - screen.last_used_at > _SEEN_EVERY:
        with platform.store.transaction() as session:
            stored = session.get(Screen, screen.id)
            if stored is not None:
                stored.last_used_at = now
    times, zone = timetable.parse(cohort.class_times), ZoneInfo(cohort.zone)
    coming = timetable.following(times, zone, now)
    return Opened(
        screen=screen,
        cohort=cohort,
        shows=shows_of(screen),
        lesson=timetable.lesson(times, zone, now, BEFORE),
        next_at=None if coming is None else coming.start,
        has_timetable=bool(times),
    )


def queue_of(platform: Platform, cohort: Cohort, limit: int = 10) -> Queue:
    """The queue of the cohort as a projector shows it."""
    with platform.store.reading() as session:
        return Queue(
            waiting=repo.count(session, cohort.id, "PENDING"),
            running=repo.count(session, cohort.id, "RUNNING"),
            rows=repo.queue(session, cohort.id, ("RUNNING", "PENDING"), limit),
        )


def aliases_of(platform: Platform, job_ids: Sequence[str]) -> dict[str, str]:
    """Whose jobs these are, by alias; jobs that are gone are left out."""
    with platform.store.reading() as session:
        return repo.aliases(session, job_ids)


def shows_of(screen: Screen) -> Shows:
    """What a projector shows, from its row."""
    told = screen.shows
    return Shows(
        scenes=tuple(str(one) for one in told.get("scenes", SCENES[:4])),
        seconds=int(told.get("seconds", 15)),
        jobs=tuple(str(one) for one in told.get("jobs", ())),
        always=bool(told.get("always", False)),
    )


def _staffed(session: Session, caller: Caller, cohort_slug: str) -> Cohort:
    cohort = access.cohort_for(session, caller, cohort_slug)
    access.require_staff(session, caller, cohort.id)
    return cohort


def _of(session: Session, cohort: Cohort, screen_id: int) -> Screen:
    screen = session.get(Screen, screen_id)
    if screen is None or screen.cohort_id != cohort.id or screen.revoked_at is not None:
        raise NotFound(Text("没有这个投屏", "there is no such projector"), reason="no_screen")
    return screen


def _check(session: Session, caller: Caller, cohort: Cohort, shows: Shows) -> None:
    unknown = [one for one in shows.scenes if one not in SCENES]
    if unknown or not shows.scenes:
        raise BadInput(
            Text("至少选一个画面", "choose a scene") if not unknown else Text("没有这个画面", "there is no such scene"),
            Text(f"可选：{', '.join(SCENES)}", f"there are: {', '.join(SCENES)}"),
            reason="scenes",
        )
    if len(shows.jobs) > MOST_JOBS:
        raise BadInput(Text(f"最多比较 {MOST_JOBS} 个任务", f"at most {MOST_JOBS} jobs"), reason="jobs")
    for job_id in shows.jobs:
        if access.job_for(session, caller, job_id).cohort_id != cohort.id:
            raise BadInput(
                Text(f"任务 {job_id} 不是这门课的", f"the job {job_id} is not of this cohort"), reason="jobs"
            )
