"""Boards of predictions: made, listed, looked at, changed."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, Response

from qianka.schemas.predictions import BoardChanges, PredictionBoard, PredictionRanking, Rebuilt
from qianka.server import predictionviews, publishing, uploads
from qianka.server.deps import CallerDep, LanguageDep, Limit, PlatformDep
from qianka.services import boards

router = APIRouter(tags=["boards"])

Slug = Annotated[str, Query(pattern="^[a-z0-9][a-z0-9-]{0,62}$")]


@router.get("/cohorts/{cohort}/boards")
def list_prediction_boards(cohort: str, caller: CallerDep, platform: PlatformDep) -> list[PredictionBoard]:
    """The boards of predictions of a cohort; students see those that have opened."""
    return [predictionviews.board(*found) for found in boards.list_boards(platform, caller, cohort)]


@router.post("/cohorts/{cohort}/boards", status_code=201)
async def create_prediction_board(
    cohort: str,
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    slug: Slug,
    metric: Annotated[str | None, Query(description="given: the folder has the form of a Kaggle competition")] = None,
    title: Annotated[str | None, Query(max_length=200)] = None,
    ladder: Annotated[bool, Query(description="for a Kaggle folder; a board.toml says it itself")] = False,
    a_day: Annotated[int, Query(ge=1, le=1000, description="likewise")] = 5,
) -> PredictionBoard:
    """Make a board of a zipped folder (raw body): board.toml and answers.csv, or as Kaggle has it; for teachers."""
    kaggle = None if metric is None else {"metric": metric, "title": title, "ladder": ladder, "a_day": a_day}
    async with uploads.received(request, platform) as got:
        make = partial(predictionviews.create, platform, caller, cohort, got.path, slug, kaggle)
        return await anyio.to_thread.run_sync(make, limiter=request.app.state.intake)


@router.get("/cohorts/{cohort}/boards/{board}", response_model=PredictionRanking)
def get_prediction_board(
    cohort: str,
    board: str,
    caller: CallerDep,
    platform: PlatformDep,
    language: LanguageDep,
    limit: Limit = 100,
    private: Annotated[bool | None, Query(description="true before the reveal: for staff")] = None,
) -> Response:
    """A board: best first, ties share a rank (1, 2, 2, 4); after the reveal by the private part."""
    shown = predictionviews.ranking(platform, caller, cohort, board, language, limit, private)
    # Written as it is: hundreds of lines need not be checked a second time.
    return Response(shown.model_dump_json(), media_type="application/json")


@router.patch("/cohorts/{cohort}/boards/{board}")
def change_prediction_board(
    cohort: str, board: str, body: BoardChanges, caller: CallerDep, platform: PlatformDep
) -> PredictionBoard:
    """New dates and limits; for teachers, audited."""
    values = {name: getattr(body, name) for name in body.model_fields_set}
    for name in ("opens_at", "due_at", "reveal_at"):
        publishing.aware(values.get(name))
    for name in ("title", "a_day"):
        if values.get(name, "") is None:
            del values[name]
    boards.change(platform, caller, cohort, board, **values)
    return predictionviews.board(*boards.get(platform, caller, cohort, board))


@router.get("/cohorts/{cohort}/boards/{board}/sample.csv", response_class=FileResponse)
def get_sample(cohort: str, board: str, caller: CallerDep, platform: PlatformDep) -> FileResponse:
    """The sample file that shows the form of an entry."""
    path = boards.sample_of(platform, caller, cohort, board)
    return FileResponse(path, media_type="text/csv; charset=utf-8", filename="sample_submission.csv")


@router.post("/cohorts/{cohort}/boards/{board}/rebuild")
def rebuild_board(cohort: str, board: str, caller: CallerDep, platform: PlatformDep) -> Rebuilt:
    """Score every entry from its file again and make the board anew; for teachers, audited."""
    owners, changed = boards.rebuild(platform, caller, cohort, board)
    return Rebuilt(owners=owners, changed=changed)
