"""Projectors: set up by staff, read with a token of their own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header

from qianka.schemas.screens import NewScreen, Screen, ScreenSecret, ScreenShown
from qianka.server import screenviews
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import screens
from qianka.services.screens import Shows

public = APIRouter(tags=["boards"])
router = APIRouter(tags=["boards"])


@public.get("/screen")
def read_screen(
    platform: PlatformDep, x_screen_token: Annotated[str, Header(min_length=10, max_length=100)]
) -> ScreenShown:
    """What a projector shows now, by alias; its token comes in a header, so that no log keeps it."""
    return screenviews.shown(platform, screens.opened(platform, x_screen_token))


@router.get("/cohorts/{cohort}/screens")
def list_screens(cohort: str, caller: CallerDep, platform: PlatformDep) -> list[Screen]:
    """The projectors of a cohort; for staff."""
    return [screenviews.screen(row) for row in screens.list_screens(platform, caller, cohort)]


@router.post("/cohorts/{cohort}/screens", status_code=201)
def create_screen(cohort: str, body: NewScreen, caller: CallerDep, platform: PlatformDep) -> ScreenSecret:
    """A new projector; its token is in this answer and nowhere else."""
    row, secret = screens.make(platform, caller, cohort, body.name, _shows(body))
    return ScreenSecret(**screenviews.screen(row).model_dump(), secret=secret)


@router.put("/cohorts/{cohort}/screens/{screen_id}")
def change_screen(cohort: str, screen_id: int, body: NewScreen, caller: CallerDep, platform: PlatformDep) -> Screen:
    """What it shows from now on."""
    return screenviews.screen(screens.change(platform, caller, cohort, screen_id, _shows(body)))


@router.delete("/cohorts/{cohort}/screens/{screen_id}", status_code=204)
def revoke_screen(cohort: str, screen_id: int, caller: CallerDep, platform: PlatformDep) -> None:
    """Its link no longer works, at once."""
    screens.revoke(platform, caller, cohort, screen_id)


def _shows(body: NewScreen) -> Shows:
    return Shows(scenes=tuple(body.scenes), seconds=body.seconds, jobs=tuple(body.jobs), always=body.always)
