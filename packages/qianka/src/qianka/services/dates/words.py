"""Instants and spans as people read them: local time, offset, what is left; never a bare zone name."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from qianka.clock import utc_offset
from qianka.errors import Text


def shown(instant: datetime, zone: str) -> str:
    """Local time with its offset, such as `2026-09-08 00:00 (UTC+08:00)`; never a bare abbreviation."""
    local = instant.astimezone(ZoneInfo(zone))
    return f"{local:%Y-%m-%d %H:%M} ({utc_offset(local)})"


def span(left: timedelta) -> Text:
    """How long that is, in the two greatest units; a begun minute is a minute."""
    minutes = max(0, int(left.total_seconds() + 59) // 60)
    days, minutes = divmod(minutes, 1440)
    hours, minutes = divmod(minutes, 60)
    if days:
        return Text(f"{days} 天 {hours} 小时", f"{days} d {hours} h")
    if hours:
        return Text(f"{hours} 小时 {minutes} 分", f"{hours} h {minutes} min")
    return Text(f"{minutes} 分", f"{minutes} min")


def until(instant: datetime, zone: str, now: datetime) -> Text:
    """`instant` with its offset and a countdown, or that it is past."""
    at = shown(instant, zone)
    if instant < now:
        gone = span(now - instant)
        return Text(f"{at}，已过 {gone.zh}", f"{at}, {gone.en} ago")
    left = span(instant - now)
    return Text(f"{at}，还有 {left.zh}", f"{at}, in {left.en}")


def more(days: int, hours: float, fixed: datetime | None, zone: str) -> Text:
    """How much more time an extension gives."""
    if fixed is not None:
        return Text(f"到 {shown(fixed, zone)}", f"until {shown(fixed, zone)}")
    zh = [f"{days} 天"] * bool(days) + [f"{hours:g} 小时"] * bool(hours)
    en = [f"{days} d"] * bool(days) + [f"{hours:g} h"] * bool(hours)
    return Text("+" + " ".join(zh), "+" + " ".join(en))
