"""Cohorts: one run of a course in a term, with its zone, week and budgets."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from qianka.errors import BadInput, Conflict, Text
from qianka.policy import timetable
from qianka.policy.week import parse_start
from qianka.services import access, audit, events
from qianka.services.platform import Caller, Platform
from qianka.store.repos import people as repo
from qianka.store.tables import Cohort

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_CHANGEABLE = ("title", "term", "zone", "week_start", "class_times", "cpu_hours", "gpu_hours")


def create(
    platform: Platform,
    caller: Caller,
    *,
    slug: str,
    title: str,
    zone: str = "Asia/Shanghai",
    term: str = "",
    week_start: str = "1 00:00",
    class_times: Sequence[Any] = (),
    cpu_hours: float | None = None,
    gpu_hours: float | None = None,
    demo: bool = False,
) -> Cohort:
    """Make a cohort; for administrators. Raises Conflict for a slug that is taken, BadInput for a wrong value."""
    access.require_admin(caller)
    values: dict[str, Any] = {
        "title": title,
        "term": term,
        "zone": zone,
        "week_start": week_start,
        "class_times": list(class_times),
        "cpu_hours": cpu_hours,
        "gpu_hours": gpu_hours,
    }
    if not _SLUG.fullmatch(slug):
        raise BadInput(
            Text(f"课程班代号 {slug!r} 不合规", f"{slug!r} is no name for a cohort"),
            Text("用小写字母、数字和连字符，如 ai-2026", "use lower-case letters, digits and hyphens, such as ai-2026"),
            reason="slug",
        )
    values = _checked(values)
    with platform.store.transaction() as session:
        if repo.cohort_by_slug(session, slug) is not None:
            raise Conflict(
                Text(f"已经有名为 {slug} 的课程班", f"there is a cohort named {slug} already"),
                Text("换一个代号", "choose another name"),
                reason="slug_taken",
            )
        cohort = Cohort(slug=slug, secret=secrets.token_hex(32), demo=demo, created_at=platform.now(), **values)
        session.add(cohort)
        session.flush()
        audit.record(session, platform, caller, "cohort.create", f"cohort:{slug}", zone=zone)
    return cohort


def change(platform: Platform, caller: Caller, slug: str, **values: Any) -> Cohort:
    """Change fields of a cohort; for its teachers. Raises BadInput for a wrong value or an unknown field."""
    unknown = set(values) - set(_CHANGEABLE)
    if unknown:
        raise BadInput(
            Text(f"不能改：{', '.join(sorted(unknown))}", f"cannot be changed: {', '.join(sorted(unknown))}"),
            Text(f"可以改：{', '.join(_CHANGEABLE)}", f"can be changed: {', '.join(_CHANGEABLE)}"),
        )
    values = _checked(values)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, slug)
        access.require_teacher(session, caller, cohort.id)
        values = {name: value for name, value in values.items() if getattr(cohort, name) != value}
        if not values:
            return cohort
        before = {name: getattr(cohort, name) for name in values}
        for name, value in values.items():
            setattr(cohort, name, value)
        session.flush()
        audit.record(session, platform, caller, "cohort.change", f"cohort:{slug}", before=before, after=values)
        kind = "budget" if {"cpu_hours", "gpu_hours", "week_start"} & set(values) else "dates"
        events.emit_for_cohort(session, platform, slug, kind)
    return cohort


def archive(platform: Platform, caller: Caller, slug: str, *, archived: bool) -> Cohort:
    """Put a cohort away, or take it back: it stays readable, but takes no more work; for administrators."""
    access.require_admin(caller)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, slug)
        if (cohort.archived_at is not None) != archived:
            cohort.archived_at = platform.now() if archived else None
            audit.record(session, platform, caller, "cohort.archive", f"cohort:{slug}", archived=archived)
            events.emit_for_cohort(session, platform, slug, "people")
    return cohort


def get(platform: Platform, caller: Caller, slug: str) -> Cohort:
    """A cohort the caller is in; raises NotFound."""
    with platform.store.reading() as session:
        return access.cohort_for(session, caller, slug)


def list_cohorts(platform: Platform, caller: Caller) -> list[Cohort]:
    """The cohorts the caller is in, or all for an administrator; newest first."""
    with platform.store.reading() as session:
        return access.cohorts_for(session, caller)


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    """The values in their normal form. Raises BadInput for the first that cannot be, naming the field."""
    _check(values)
    normal = dict(values)
    for name in ("title", "term"):
        if name in normal:
            normal[name] = " ".join(str(normal[name]).split())
    if "class_times" in normal:
        try:
            normal["class_times"] = [one.as_stored() for one in timetable.parse(normal["class_times"])]
        except timetable.TimetableError as error:
            raise _bad(
                "class_times",
                error.text.zh,
                error.text.en,
                "每行一节课：星期 1–7、开始和结束时间（如 08:00、09:35）",
                "a class a line: weekday 1 to 7, start and end such as 08:00 and 09:35",
            ) from None
    return normal


def _check(values: dict[str, Any]) -> None:
    """Raises BadInput for the first value that cannot be, naming the field."""
    if "title" in values and not str(values["title"]).strip():
        raise _bad("title", "不能为空", "must not be empty", "写课程名，如 人工智能 2026 秋", "such as AI, autumn 2026")
    if "zone" in values:
        try:
            ZoneInfo(values["zone"])
        except (ValueError, OSError, LookupError, TypeError):
            # ZoneInfoNotFoundError is a LookupError; a folder's name is an OSError, an odd one a ValueError.
            raise _bad(
                "zone",
                f"没有名为 {values['zone']!r} 的时区",
                f"there is no zone {values['zone']!r}",
                "用 IANA 名称，如 Asia/Shanghai（不要用 CST 这样的缩写）",
                "use an IANA name such as Asia/Shanghai, no abbreviation such as CST",
            ) from None
    if "week_start" in values:
        try:
            parse_start(values["week_start"])
        except (ValueError, TypeError):
            raise _bad(
                "week_start",
                f"{values['week_start']!r} 不是“星期 时:分”",
                f"{values['week_start']!r} is not a weekday and a time",
                "如 1 08:00 表示周一 8 点",
                "1 08:00 is Monday at eight",
            ) from None
    for name in ("cpu_hours", "gpu_hours"):
        hours = values.get(name)
        if hours is not None and not (isinstance(hours, int | float) and math.isfinite(hours) and hours >= 0):
            raise _bad(
                name, "应是不小于 0 的小时数", "must be hours, not below 0", "不限则留空", "leave it out: no limit"
            )


def _bad(name: str, zh: str, en: str, hint_zh: str, hint_en: str) -> BadInput:
    return BadInput(Text(f"{name}：{zh}", f"{name}: {en}"), Text(hint_zh, hint_en), reason=name)
