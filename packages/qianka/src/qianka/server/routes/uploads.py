"""Uploads in pieces, which go on where they broke off."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from qianka.schemas.submissions import HandedIn
from qianka.schemas.uploads import NewUpload, Upload
from qianka.server import graded
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.server.uploads import plain_filename
from qianka.services import uploads
from qianka.store import tables

router = APIRouter(tags=["submissions"])

_PIECE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/cohorts/{cohort}/labs/{lab}/uploads", status_code=201)
def start_upload(cohort: str, lab: str, body: NewUpload, caller: CallerDep, platform: PlatformDep) -> Upload:
    """Announce a file; then PUT its pieces, then hand it in."""
    name = plain_filename(body.filename)
    return _shown(uploads.start(platform, caller, cohort, lab, filename=name, size=body.size))


@router.get("/uploads/{upload_id}")
def get_upload(upload_id: str, caller: CallerDep, platform: PlatformDep) -> Upload:
    """How much of a file is here: where to go on after a break."""
    return _shown(uploads.get(platform, caller, upload_id))


@router.put("/uploads/{upload_id}", openapi_extra=_PIECE)
async def send_piece(
    upload_id: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    offset: Annotated[int, Query(ge=0, description="where the piece begins in the file")],
) -> Upload:
    """Add a piece (raw body). One that is here already changes nothing; a gap is a conflict with `received`."""
    piece = await request.body()
    return _shown(await run_in_threadpool(uploads.take, platform, caller, upload_id, offset, piece))


@router.post("/uploads/{upload_id}/submission", status_code=201)
def hand_in_upload(upload_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> HandedIn:
    """Hand the complete file in. Asked again it is the same submission, whatever happened on the way."""
    return graded.handed_in(platform, caller, uploads.hand_in(platform, caller, upload_id), language)


@router.delete("/uploads/{upload_id}", status_code=204)
def drop_upload(upload_id: str, caller: CallerDep, platform: PlatformDep) -> None:
    """Give a file up that is on its way."""
    uploads.drop(platform, caller, upload_id)


def _shown(row: tables.Upload) -> Upload:
    return Upload(
        id=row.id,
        filename=row.filename,
        size=row.size,
        received=row.received,
        piece=uploads.PIECE,
        expires_at=row.expires_at,
    )
