"""Pages: Jinja with escaping always on; what students wrote is text, never markup."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from qianka.clock import utc_offset
from qianka.errors import Language, Text
from qianka.schemas.base import Problem
from qianka.server.health import Doctor, Finding
from qianka.server.language import language_of
from qianka.server.version import VERSION

TEMPLATES = Path(__file__).with_name("templates")


class Pages:
    """Renders templates in the language of the request."""

    def __init__(self) -> None:
        self.jinja = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.jinja.filters["local"] = local_time
        self.jinja.filters["size"] = human_size
        self.jinja.filters["number"] = number
        self.jinja.filters["state_text"] = state_text

    def render(self, name: str, request: Request, **values: Any) -> str:
        """The page `name`; every page gets the notices, the language and who is signed in."""
        language = page_language(request)
        doctor: Doctor | None = getattr(request.app.state, "doctor", None)
        found: list[Finding] = [] if doctor is None else doctor.look()[1]
        shared = {
            "language": language,
            "t": lambda zh, en: zh if language == "zh" else en,
            "notices": [{"text": f.text.say(language), "fix": f.fix.say(language) if f.fix else None} for f in found],
            "other_language": request.url.include_query_params(lang="en" if language == "zh" else "zh"),
            "version": VERSION,
            "me": None,
            "live": "",
            **values,
        }
        return self.jinja.get_template(name).render(shared)

    def refusal(self, request: Request, problem: Problem, status: int) -> str:
        """The page of a refusal."""
        return self.render("refusal.html", request, problem=problem, status=status)


def page_language(request: Request) -> Language:
    """What `?lang=` or the language cookie says, else as for every answer."""
    for said in (request.query_params.get("lang"), request.cookies.get("qianka_language")):
        if said in ("zh", "en"):
            return "en" if said == "en" else "zh"
    return language_of(request)


_STATES = {
    "PENDING": Text("排队中", "queued"),
    "RUNNING": Text("运行中", "running"),
    "COMPLETED": Text("完成", "done"),
    "FAILED": Text("出错", "failed"),
    "TIMEOUT": Text("超时", "timed out"),
    "OUT_OF_MEMORY": Text("内存超限", "out of memory"),
    "CANCELLED": Text("已取消", "cancelled"),
    "PREEMPTED": Text("让出，稍后重来", "gave way"),
    "NODE_FAIL": Text("平台故障", "platform fault"),
}


def state_text(state: str, language: Language) -> str:
    """A job's state in words; one not in the table as it is."""
    return _STATES.get(state, Text(state, state)).say(language)


def local_time(value: datetime | None, zone: str) -> Markup:
    """A time as local time with its offset; the script adds the countdown. Never a bare zone name."""
    if value is None:
        return Markup("—")
    local = value.astimezone(ZoneInfo(zone))
    text = f"{local:%Y-%m-%d %H:%M} ({utc_offset(local)})"
    return Markup('<time datetime="{}">{}</time>').format(escape(value.isoformat()), text)


def human_size(size: int | None) -> str:
    """Bytes as people say them."""
    if size is None:
        return "—"
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def number(value: float | None, digits: int = 2) -> str:
    """A number without trailing zeros."""
    return "—" if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".")
