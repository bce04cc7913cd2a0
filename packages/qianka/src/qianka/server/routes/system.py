"""Health and version."""

from __future__ import annotations

from fastapi import APIRouter, Request

from qianka.errors import Language
from qianka.schemas.system import Health, Notice, Version
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.server.health import Doctor, Finding, status_of
from qianka.server.version import VERSION
from qianka.services import access

public = APIRouter(tags=["system"])
router = APIRouter(tags=["system"])


@public.get("/version")
def get_version() -> Version:
    """Which version answers."""
    return Version(version=VERSION)


@public.get("/health")
def get_health(request: Request, language: LanguageDep) -> Health:
    """Whether the parts answer; the details are under /api/health/parts."""
    doctor: Doctor = request.app.state.doctor
    _, found = doctor.look()
    return _health(request, found, language)


@router.get("/health/parts")
def get_health_parts(request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Health:
    """Each part: database, worker, sandbox, process, disk. For administrators."""
    access.require_admin(caller)
    doctor: Doctor = request.app.state.doctor
    parts, found = doctor.look()
    return _health(request, found, language).model_copy(update={"parts": parts})


def _health(request: Request, found: list[Finding], language: Language) -> Health:
    limit = request.app.state.settings.server_upload_mb * 1_000_000
    return Health(status=status_of(found), version=VERSION, upload_limit=limit, notices=notices(found, language))


def notices(found: list[Finding], language: Language) -> list[Notice]:
    """What a page has to say."""
    return [
        Notice(code=f.code, message=f.text.say(language), fix=None if f.fix is None else f.fix.say(language))
        for f in found
    ]
