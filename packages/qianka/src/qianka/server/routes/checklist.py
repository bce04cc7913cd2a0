"""A teacher's first steps."""

from __future__ import annotations

from fastapi import APIRouter, Request

from qianka.errors import Language, Text
from qianka.schemas.checklist import Step
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.server.health import Doctor
from qianka.services import checklist

router = APIRouter(tags=["cohorts"])

_LOCAL = ("localhost", "127.0.0.1", "::1")


@router.get("/cohorts/{cohort}/checklist")
def get_checklist(
    cohort: str, request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> list[Step]:
    """What is ready for the class and what is not: connection, grader, roster, labs, a test hand-in. For staff."""
    own = checklist.checklist(platform, caller, cohort)
    return [_step(one, language) for one in (_connection(request), *_parts(request), *own)]


def _step(one: checklist.Step, language: Language) -> Step:
    return Step(key=one.key, state=one.state, title=one.title.say(language), text=one.text.say(language), to=one.to)


def _connection(request: Request) -> checklist.Step:
    title = Text("加密连接", "Encrypted connection")
    if request.url.scheme == "https":
        return checklist.Step(key="tls", state="done", title=title, text=Text("经 HTTPS", "by HTTPS"))
    if request.url.hostname in _LOCAL:
        return checklist.Step(
            key="tls",
            state="look",
            title=title,
            text=Text(
                "只在本机打开；要让全班连上来，用 qianka up --public",
                "open on this machine only; to let the class in: qianka up --public",
            ),
        )
    return checklist.Step(
        key="tls",
        state="todo",
        title=title,
        text=Text(
            "密码正以明文经过网络；用 qianka up --public 打开 HTTPS，或放到有证书的反向代理后面",
            "passwords cross the network in the clear; use qianka up --public, or a proxy with a certificate",
        ),
    )


def _parts(request: Request) -> list[checklist.Step]:
    """One step for each part that is not as it should be; one in all where everything is well."""
    doctor: Doctor = request.app.state.doctor
    _, found = doctor.look()
    title = Text("服务器与评分程序", "Server and grader")
    if not found:
        return [checklist.Step(key="parts", state="done", title=title, text=Text("都在运行", "all is running"))]
    return [
        checklist.Step(
            key=f"parts-{one.code}",
            state="todo" if one.code in ("worker", "database") else "look",
            title=title,
            text=one.text if one.fix is None else Text(f"{one.text.zh} {one.fix.zh}", f"{one.text.en} {one.fix.en}"),
        )
        for one in found
    ]
