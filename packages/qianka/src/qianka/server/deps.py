"""What routes ask for by type."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request

from qianka.errors import Language
from qianka.server.auth import signed_in
from qianka.server.language import language_of
from qianka.services.access import SignedIn
from qianka.services.platform import Caller, Platform

# What only looks something up is async: FastAPI would send it to a thread and back, which costs more than it does.

PAGE = 100
LONGEST_PAGE = 1000


async def the_platform(request: Request) -> Platform:
    """The platform that this server serves."""
    platform: Platform = request.app.state.platform
    return platform


async def the_caller(found: Annotated[SignedIn, Depends(signed_in)]) -> Caller:
    """Who asks; raises NotSignedIn."""
    return found.caller


async def the_language(request: Request) -> Language:
    """The language of the answer."""
    return language_of(request)


PlatformDep = Annotated[Platform, Depends(the_platform)]
SignedInDep = Annotated[SignedIn, Depends(signed_in)]
CallerDep = Annotated[Caller, Depends(the_caller)]
LanguageDep = Annotated[Language, Depends(the_language)]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="how many to leave out")]
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE, description="how many at most")]
