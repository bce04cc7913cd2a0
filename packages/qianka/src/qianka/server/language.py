"""Which language an answer is in."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from qianka.errors import Language
from qianka.settings import Settings


def accepted(header: str) -> Language | None:
    """The better liked of our two languages in an Accept-Language header; None when it names neither."""
    best: tuple[float, Language] | None = None
    for part in header.split(",")[:20]:
        tag, _, weight = part.strip().partition(";q=")
        language: Language | None = {"zh": "zh", "en": "en"}.get(tag.strip().lower().split("-")[0])  # type: ignore[assignment]
        try:
            liking = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language is not None and (best is None or liking > best[0]):
            best = (liking, language)
    return None if best is None else best[1]


def language_of(request: HTTPConnection) -> Language:
    """What was asked for by header, else what the person chose, else the platform's own."""
    asked = accepted(request.headers.get("accept-language", ""))
    person: Language | None = getattr(request.state, "language", None)
    settings: Settings = request.app.state.settings
    return asked or person or ("en" if settings.language == "en" else "zh")
