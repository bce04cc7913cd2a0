"""The web pages: one built application for every address that is not the API's."""

from __future__ import annotations

import html
import os
import re
import secrets
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from qianka.errors import Language, Text
from qianka.schemas.base import Problem

BUILT = Path(__file__).with_name("static") / "app"
"""where `make web` puts the pages"""
PLACE = "/static/app"

_NONCE = "__NONCE__"
_OTHERS = re.compile(r"/(api|static)(/|$)")
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_PAGE = """<!doctype html>
<html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><h1>{title}</h1><p>{hint}</p><p><a href="/">千卡 Qianka</a></p></html>
"""
NOT_BUILT = Text("网页还没有构建", "the web pages have not been built")
NOT_BUILT_FIX = Text("在代码目录运行 make web，然后刷新", "run make web in the repository, then reload")


def policy(nonce: str) -> str:
    """What a page may load: only what is ours; styles that our own script adds carry `nonce`."""
    return (
        f"default-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'self'; object-src 'none'"
    )


def refusal_page(problem: Problem, language: Language) -> str:
    """A refusal where there is no application to show it."""
    lang = "zh-CN" if language == "zh" else "en"
    return _PAGE.format(lang=lang, title=html.escape(problem.message), hint=html.escape(problem.hint or ""))


class Website:
    """The built application in `folder`; looked at anew when it has been built anew."""

    def __init__(self, folder: Path = BUILT) -> None:
        self.folder = folder
        self._read: tuple[int, str] | None = None

    def index(self) -> str | None:
        """The page that loads the application, with a place for the nonce; None while it is not built."""
        path = self.folder / "index.html"
        try:
            stamp = path.stat().st_mtime_ns
            if self._read is None or self._read[0] != stamp:
                self._read = (stamp, path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        return self._read[1]


class BuiltFiles(StaticFiles):
    """Files of the application, compressed beforehand; their names change with their content."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        path = Path(full_path)
        accepted = Headers(scope=scope).get("accept-encoding", "")
        for name, ending in _ENCODINGS:
            packed = path.with_name(path.name + ending)
            if name in accepted and packed.is_file():
                response: Response = FileResponse(packed, status_code, media_type=_type_of(path))
                response.headers["content-encoding"] = name
                break
        else:
            response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["vary"] = "accept-encoding"
        is_named_by_content = path.parent.name == "assets"
        response.headers["cache-control"] = f"public, max-age={31536000 if is_named_by_content else 3600}" + (
            ", immutable" if is_named_by_content else ""
        )
        return response


def _type_of(path: Path) -> str:
    known = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    return known.get(path.suffix, "application/octet-stream")


async def show(scope: Scope, receive: Receive, send: Send) -> None:
    """What is asked for that no route knows: the application (which page it shows is its own matter), or nothing."""
    path: str = scope["path"]
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or _OTHERS.match(path):
        raise HTTPException(404)
    website: Website = scope["app"].state.website
    await _answer(website, scope["app"].state.settings.language)(scope, receive, send)


def _answer(website: Website, language: str) -> Response:
    text = website.index()
    if text is None:
        chosen: Language = "en" if language == "en" else "zh"
        problem = Problem(code="unavailable", message=NOT_BUILT.say(chosen), hint=NOT_BUILT_FIX.say(chosen))
        return HTMLResponse(refusal_page(problem, chosen), 503)
    nonce = secrets.token_urlsafe(16)
    return HTMLResponse(text.replace(_NONCE, nonce), headers={"content-security-policy": policy(nonce)})
