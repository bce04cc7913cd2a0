"""Entries of predictions: a CSV in, a score and a receipt out; chosen, withdrawn."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, Response

from qianka.schemas.base import Page
from qianka.schemas.predictions import EnteredFile, PredictionEntry, Selection
from qianka.server import predictionviews, uploads
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import boards

router = APIRouter(tags=["boards"])


@router.post("/cohorts/{cohort}/boards/{board}/entries", status_code=201, openapi_extra=uploads.OPENAPI)
async def enter_predictions(
    cohort: str, board: str, request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep
) -> EnteredFile:
    """Enter a CSV: the raw body, with Idempotency-Key and X-Filename.

    The same key again is the same entry. A file that breaks a rule comes back as invalid with all that is
    wrong: it costs no try and does not rank.
    """
    key, name = uploads.idempotency_key(request), uploads.filename_of(request)
    announced = request.headers.get("content-length", "")
    size = int(announced) if announced.isdecimal() else None
    before = partial(boards.check_announced, platform, caller, cohort, board, name, size, key)
    most = await anyio.to_thread.run_sync(before)
    async with uploads.received(request, platform, most) as got:
        take = partial(
            boards.enter,
            platform,
            caller,
            cohort,
            board,
            got.path,
            got.filename,
            key,
            sha256=got.sha256,
            size=got.size,
        )
        result = await anyio.to_thread.run_sync(take, limiter=request.app.state.intake)
    return await anyio.to_thread.run_sync(
        partial(predictionviews.entered, platform, caller, cohort, board, result, language)
    )


@router.get("/cohorts/{cohort}/boards/{board}/entries")
def list_entries(
    cohort: str,
    board: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    everybody: Annotated[bool, Query(description="of the whole cohort, for staff")] = False,
    after: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 100,
) -> Page[PredictionEntry]:
    """The caller's entries and their group's, newest first."""
    found = boards.list_entries(platform, caller, cohort, board, everybody=everybody, before=after, limit=limit)
    items = [predictionviews.entry(one, language) for one in found]
    return Page[PredictionEntry](items=items, next=items[-1].id if len(items) == limit else None)


@router.put("/cohorts/{cohort}/boards/{board}/selection")
def select_entries(cohort: str, board: str, body: Selection, caller: CallerDep, platform: PlatformDep) -> Selection:
    """Choose the entries that count in the private ranking; more than the board admits is refused at once."""
    return Selection(entries=boards.select_entries(platform, caller, cohort, board, body.entries))


@router.get("/entries/{entry_id}")
def get_entry(entry_id: str, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> PredictionEntry:
    """One entry."""
    return predictionviews.entry(boards.get_entry(platform, caller, entry_id), language)


@router.get("/entries/{entry_id}/receipt", response_class=Response)
def get_entry_receipt(entry_id: str, caller: CallerDep, platform: PlatformDep) -> Response:
    """The signed receipt as the file to keep; every byte counts."""
    text = predictionviews.receipt_file(platform, boards.receipt_of(platform, caller, entry_id))
    headers = {"Content-Disposition": f'attachment; filename="{entry_id}.receipt.json"'}
    return Response(text, media_type="application/json", headers=headers)


@router.get("/entries/{entry_id}/file", response_class=FileResponse)
def get_entry_file(entry_id: str, caller: CallerDep, platform: PlatformDep) -> FileResponse:
    """The file exactly as it was entered."""
    path = boards.file_of(platform, caller, entry_id)
    name = boards.get_entry(platform, caller, entry_id).entry.filename
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.post("/entries/{entry_id}/withdraw")
def withdraw_entry(
    entry_id: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    refund: Annotated[bool, Query(description="give the try back; for staff")] = False,
) -> PredictionEntry:
    """Take an entry off the board as if it had never been."""
    boards.withdraw(platform, caller, entry_id, refund=refund)
    return predictionviews.entry(boards.get_entry(platform, caller, entry_id), language)
