"""Labs: what is published, what students may take home, publishing."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse

from qianka.schemas.labs import Handout, Lab, LabDates, LabFolder
from qianka.server import dateviews, labviews, publishing, uploads
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.services import access, cohorts, dates, labs

router = APIRouter(tags=["labs"])

Instant = Annotated[datetime | None, Query(description="ISO 8601 with an offset")]


@router.get("/cohorts/{cohort}/labs")
def list_labs(cohort: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> list[Lab]:
    """The labs of a cohort with the caller's own dates; students see those that have opened."""
    return labviews.listed(platform, caller, cohort, language)


@router.get("/cohorts/{cohort}/labs/{lab}")
def get_lab(cohort: str, lab: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Lab:
    """One lab, the caller's tries today, and for staff how far it is prepared."""
    row = labs.get(platform, caller, cohort, lab)
    shown = labviews.lab(platform, cohorts.get(platform, caller, cohort), row)
    shown.tries = labviews.tries(platform, caller, cohort, lab, language)
    shown.mine = dateviews.mine(dates.mine(platform, caller, cohort, lab), language)
    if labviews.is_staff(platform, caller, row.cohort_id):
        shown.readiness = labs.readiness(platform, caller, cohort, lab)
    return shown


@router.get("/cohorts/{cohort}/labs/{lab}/handout")
def get_handout(cohort: str, lab: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Handout:
    """What the lab asks for, as its author wrote it."""
    text = labs.handout(platform, caller, cohort, lab, language)
    return Handout(text=text, base=f"/api/cohorts/{cohort}/labs/{lab}/pictures/")


@router.get("/cohorts/{cohort}/labs/{lab}/pictures/{name:path}", response_class=FileResponse)
def get_picture(cohort: str, lab: str, name: str, caller: CallerDep, platform: PlatformDep) -> FileResponse:
    """A picture of the handout."""
    path, kind = labs.picture(platform, caller, cohort, lab, name)
    return FileResponse(path, media_type=kind)


@router.get("/cohorts/{cohort}/labs/{lab}/public.zip", response_class=FileResponse)
def get_public_lab(cohort: str, lab: str, caller: CallerDep, platform: PlatformDep) -> FileResponse:
    """What students may have: handout, starter, training data, a public test; `qianka check` grades by it."""
    path = labs.public_version(platform, caller, cohort, lab)
    return FileResponse(path, media_type="application/zip", filename=f"{lab}.zip")


@router.post("/cohorts/{cohort}/labs", status_code=201)
async def publish_lab(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    slug: Annotated[str, Query(pattern="^[a-z0-9][a-z0-9-]{0,62}$")],
    due: Instant = None,
    opens: Instant = None,
    practice: Annotated[bool, Query(description="the folder is a public.zip, without secrets")] = False,
) -> Lab:
    """Publish a lab folder sent as a zip (raw body). The same content again is the same version."""
    async with uploads.received(request, platform) as got:
        publish = partial(
            publishing.publish_archive,
            platform,
            caller,
            cohort,
            got.path,
            slug=slug,
            due=publishing.aware(due),
            opens=publishing.aware(opens),
            practice=practice,
            language=language,
        )
        return await anyio.to_thread.run_sync(publish, limiter=request.app.state.intake)


@router.post("/cohorts/{cohort}/labs/local", status_code=201)
def publish_local_lab(
    cohort: str, body: LabFolder, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> Lab:
    """Publish a lab folder on the server's own disk; for administrators."""
    access.require_admin(caller)
    return publishing.publish_folder(
        platform,
        caller,
        cohort,
        Path(body.path),
        slug=body.slug,
        due=publishing.aware(body.due),
        opens=publishing.aware(body.opens),
        practice=body.practice,
        language=language,
    )


@router.patch("/cohorts/{cohort}/labs/{lab}")
def change_lab_dates(cohort: str, lab: str, body: LabDates, caller: CallerDep, platform: PlatformDep) -> Lab:
    """Set or lift the dates of a lab; for teachers. With a preview: PUT …/dates."""
    given: dict[str, Any] = {name: publishing.aware(getattr(body, name)) for name in body.model_fields_set}
    row = dates.change_dates(platform, caller, cohort, lab, **given).row
    return labviews.lab(platform, cohorts.get(platform, caller, cohort), row)
