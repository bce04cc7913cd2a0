"""Following: events and logs as they come, over lost connections and restarts of the server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from qianka.client.transport import Transport, wait_before
from qianka.errors import PlatformFault, Unavailable
from qianka.schemas.events import Event

SILENCE = 40.0
"""seconds without even a heartbeat after which the connection counts as lost"""


def follow(transport: Transport, topics: Iterable[str], after: int | None = None) -> Iterator[Event]:
    """Events on `topics`, oldest first, without end; a lost connection is resumed where it broke.

    Raises Unavailable when the server stays away, and what it refuses.
    """
    names, last, failures = ",".join(topics), after, 0
    while True:
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        try:
            with transport.stream("/api/events", headers, SILENCE, topics=names) as response:
                for event in parse(response.iter_lines()):
                    failures, last = 0, event.id
                    yield event
        except httpx.TransportError as error:
            failures += 1
            if failures >= transport.tries:
                raise transport._away(error) from error
        except (Unavailable, PlatformFault):
            failures += 1
            if failures >= transport.tries:
                raise
        transport.sleep(wait_before(max(1, failures)))


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """The events in the lines of a text/event-stream; comments and messages with a name are passed over."""
    data: list[str] = []
    named = False
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            named = True
        elif line == "":
            text, skipped = "\n".join(data), named or not data
            data, named = [], False
            if not skipped:
                yield Event.model_validate(json.loads(text))


def log_text(transport: Transport, job: str, stream: str, *, live: bool, run: int | None = None) -> Iterator[str]:
    """The output of a job from its beginning; with `live` until the job has ended."""
    offset = 0
    while True:
        wait = 20 if live else 0
        piece: dict[str, Any] = transport.get(f"/api/jobs/{job}/logs", stream=stream, offset=offset, wait=wait, run=run)
        if piece["text"]:
            yield str(piece["text"])
        moved = piece["offset"] > offset
        offset = int(piece["offset"])
        if not moved and (piece["ended"] or not live):
            return
