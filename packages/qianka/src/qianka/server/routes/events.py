"""The live stream: one connection for everything a page shows."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import StreamingResponse

from qianka.errors import BadInput, NotFound, QiankaError, Text
from qianka.server import auth, events
from qianka.server.deps import CallerDep, PlatformDep
from qianka.server.events import TOPICS, Tail
from qianka.services import access
from qianka.services.platform import Caller, Platform

router = APIRouter(tags=["events"])


@router.get("/events", response_class=StreamingResponse)
async def stream_events(
    request: Request,
    caller: CallerDep,
    platform: PlatformDep,
    topics: Annotated[str, Query(max_length=4000, description="attempt:ID, job:ID, board:LAB; by commas")],
    after: Annotated[int | None, Query(ge=0, description="id of the last event seen; 0: all that are kept")] = None,
    last_event_id: Annotated[str | None, Header(description="what a browser sends when it comes back")] = None,
) -> StreamingResponse:
    """Server-sent events on `topics`; a comment as heartbeat each 15 s.

    Without `after` the gradings and jobs are told from their beginning, boards from now on.
    """
    wanted = sorted({topic.strip() for topic in topics.split(",") if topic.strip()})
    if not 1 <= len(wanted) <= TOPICS:
        raise BadInput(Text(f"要 1 到 {TOPICS} 个主题", f"1 to {TOPICS} topics"), reason="topics")
    await anyio.to_thread.run_sync(check_topics, platform, caller, wanted)
    if last_event_id is not None and last_event_id.isdecimal():
        after = int(last_event_id)
    if after is None and not any(topic.startswith("board:") for topic in wanted):
        after = 0

    def still_allowed() -> bool:
        try:
            auth.recognise(request)
            check_topics(platform, caller, wanted)
        except QiankaError:
            return False
        return True

    tail: Tail = request.app.state.tail
    return events.response(tail.stream(wanted, after, still_allowed))


def check_topics(platform: Platform, caller: Caller, topics: list[str]) -> None:
    """Raises NotFound for a topic that is none or that the caller may not know of."""
    with platform.store.reading() as session:
        for topic in topics:
            kind, _, name = topic.partition(":")
            if kind == "attempt":
                access.attempt_for(session, caller, name)
            elif kind == "job":
                access.job_for(session, caller, name)
            elif kind == "board" and name.isdecimal():
                access.board_for(session, caller, int(name))
            elif kind == "board" and name.startswith("b-"):
                access.prediction_board_for(session, caller, name)
            else:
                raise NotFound(Text(f"没有主题 {topic}", f"there is no topic {topic}"), reason="topics")
