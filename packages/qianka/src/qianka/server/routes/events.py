"""The live stream: one connection for everything a page shows."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import StreamingResponse

from qianka.errors import QiankaError
from qianka.schemas.events import Event
from qianka.server import auth, events
from qianka.server.deps import CallerDep, PlatformDep
from qianka.server.events import Tail
from qianka.server.topics import Topics
from qianka.services import events as told

router = APIRouter(tags=["events"])

Wanted = Annotated[
    str,
    Query(
        alias="topics",
        max_length=4000,
        description="me, cohort:SLUG, staff:SLUG, attempt:ID, job:ID, board:LAB, board:BOARD; by commas",
    ),
]


@router.get("/events", response_class=StreamingResponse)
async def stream_events(
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    wanted: Wanted,
    after: Annotated[int | None, Query(ge=0, description="id of the last event seen; 0: all that are kept")] = None,
    last_event_id: Annotated[str | None, Header(description="what a browser sends when it comes back")] = None,
) -> StreamingResponse:
    """Server-sent events on `topics`; a comment as heartbeat each 15 s.

    Without `after` gradings and jobs alone are told from their beginning, everything else from now on.
    """
    topics = Topics(caller, wanted)
    await anyio.to_thread.run_sync(topics.check, platform)
    if last_event_id is not None and last_event_id.isdecimal():
        after = int(last_event_id)
    if after is None and topics.of_one_run:
        after = 0

    def still_allowed() -> bool:
        try:
            auth.recognise(request)
            topics.check(platform)
        except QiankaError:
            return False
        return True

    tail: Tail = request.app.state.tail
    return events.response(topics.renamed(tail.stream(topics.stored, after, still_allowed)))


@router.get("/events/recent")
def recent_events(
    caller: CallerDep,
    platform: PlatformDep,
    wanted: Wanted,
    after: Annotated[int, Query(ge=0, description="id of the last event seen")],
) -> list[Event]:
    """The events on `topics` since then, at most 200: for where a proxy keeps the stream back."""
    topics = Topics(caller, wanted)
    topics.check(platform)
    rows = told.read(platform, topics.stored, after, events.BATCH)
    return [topics.as_asked(Event.model_validate(row)) for row in rows]
