"""Times as people type and read them: local to a cohort, never without their offset."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from qianka.cli.output import t
from qianka.clock import utc_offset
from qianka.errors import BadInput, Text


def instant(text: str | None, zone: str) -> datetime | None:
    """A local time of the cohort, or one with its own offset, as an instant. Raises BadInput."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError as error:
        raise BadInput(
            Text(f"看不懂时间 {text}", f"the time {text} is not understood"),
            Text("写成 2026-12-20 23:59", "write it as 2026-12-20 23:59"),
        ) from error
    return found if found.tzinfo is not None else found.replace(tzinfo=ZoneInfo(zone))


def due_instant(text: str | None, zone: str) -> datetime | None:
    """As `instant`; a date alone means the last minute of that day. Raises BadInput."""
    is_date = text is not None and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()) is not None
    return instant(f"{text} 23:59" if is_date else text, zone)


def shown_time(value: datetime | None, zone: str) -> str:
    """A time as local time, offset and what is left until then."""
    if value is None:
        return "-"
    local = value.astimezone(ZoneInfo(zone))
    left = local - datetime.now(local.tzinfo)
    span = (
        t("已过", "past")
        if left < timedelta(0)
        else t(f"还有 {left.days} 天 {left.seconds // 3600} 小时", f"in {left.days} d {left.seconds // 3600} h")
    )
    return f"{local:%Y-%m-%d %H:%M} ({utc_offset(local)}, {span})"
