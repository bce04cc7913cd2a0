"""The live stream: one poll of the event table a process, however many browsers listen."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

import anyio
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import StreamingResponse

from qianka import logs
from qianka.schemas.events import Event
from qianka.services import events
from qianka.services.platform import Platform
from qianka.store import tables

log = logs.get("server.events")

POLL = 0.2
HEARTBEAT = 15.0
BATCH = 200
TOGETHER, PAUSE = 5, 0.004
"""listeners that are told in one turn of the loop, and seconds that requests get before the next ones"""
WAITING = 1000
"""events a slow listener may be behind before it is cut off; it resumes from its last id"""


class Signal(Enum):
    """What a stream is told besides events."""

    BEAT = "nothing has happened for a while"
    END = "it is over"


@dataclass(eq=False)
class Listener:
    """One open stream."""

    topics: frozenset[str]
    told_at: float
    """when it was last told something, by the clock of the loop"""
    joined: asyncio.Event = field(default_factory=asyncio.Event)
    """the poll looks at these topics from its present cursor on"""
    queue: asyncio.Queue[Event | Signal] = field(default_factory=lambda: asyncio.Queue(WAITING))


class Tail:
    """Follows the event table from its present end and hands each event to who listens to its topic."""

    def __init__(self, platform: Platform, poll: float = POLL) -> None:
        self.platform = platform
        self.poll = poll
        self.listeners: set[Listener] = set()
        self.closed = False
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._threads = anyio.CapacityLimiter(2)  # hand-ins in all other threads must not hold up the stream

    def start(self) -> None:
        """Begin to follow; in the loop of the server."""
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def close(self) -> None:
        """End all streams; clients come back by themselves with their last id."""
        self.closed = True
        self._woken.set()
        for listener in list(self.listeners):
            self._end(listener)

    async def stop(self) -> None:
        """Close and wait for the poll to end."""
        self.close()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5)
            self._task.cancel()

    async def stream(
        self, topics: Iterable[str], after: int | None, still_allowed: Callable[[], bool]
    ) -> AsyncIterator[Event | None]:
        """Events on `topics` with an id above `after`, oldest first, without end; None: a heartbeat is due.

        `after` None begins now. `still_allowed` is asked at each heartbeat: a sign-out ends the stream.
        """
        listener = Listener(frozenset(topics), asyncio.get_running_loop().time())
        self.listeners.add(listener)
        self._woken.set()
        try:
            # What is read from here on and what the poll brings overlap; nothing falls between them.
            await listener.joined.wait()
            last = await self._newest() if after is None else after
            if after is not None:
                while batch := await self._read(sorted(listener.topics), last):
                    for event in batch:
                        last = event.id
                        yield event
            while not self.closed:
                told = await listener.queue.get()
                if told is Signal.END:
                    return
                if isinstance(told, Event):
                    if told.id > last:
                        last = told.id
                        yield told
                elif await anyio.to_thread.run_sync(still_allowed):
                    yield None
                else:
                    return
        finally:
            self.listeners.discard(listener)

    async def _follow(self) -> None:
        cursor: int | None = None
        away = False
        while not self.closed:
            try:
                if cursor is None:
                    cursor = await self._newest()
                cursor = await self._poll(cursor)
                away = False
            except SQLAlchemyError as error:
                if not away:  # told once, however long it lasts
                    log.warning("the event table cannot be read, trying on: %s", error)
                away = True
            with contextlib.suppress(asyncio.TimeoutError):
                # Without a listener there is nothing to look for.
                await asyncio.wait_for(self._woken.wait(), self.poll if self.listeners else None)
            self._woken.clear()

    async def _poll(self, cursor: int) -> int:
        now = asyncio.get_running_loop().time()
        for listener in list(self.listeners):
            listener.joined.set()
            if now - listener.told_at > HEARTBEAT:
                self._tell(listener, Signal.BEAT)
        # All topics, since with hundreds of listeners nearly every event is somebody's.
        for row in await self._read_all(cursor):
            cursor = row.id
            concerned = [listener for listener in self.listeners if row.topic in listener.topics]
            if concerned:
                await self._hand_out(Event.model_validate(row), concerned)
        return cursor

    async def _hand_out(self, event: Event, concerned: list[Listener]) -> None:
        for number, listener in enumerate(concerned, 1):
            self._tell(listener, event)
            if number % TOGETHER == 0:
                await asyncio.sleep(PAUSE)

    def _tell(self, listener: Listener, what: Event | Signal) -> None:
        listener.told_at = asyncio.get_running_loop().time()
        if listener.queue.full():
            self._end(listener)
        else:
            listener.queue.put_nowait(what)

    def _end(self, listener: Listener) -> None:
        self.listeners.discard(listener)
        listener.joined.set()
        while listener.queue.full():
            listener.queue.get_nowait()
        listener.queue.put_nowait(Signal.END)

    async def _read(self, topics: list[str], after: int) -> list[Event]:
        def read() -> list[Event]:
            return [Event.model_validate(row) for row in events.read(self.platform, topics, after, BATCH)]

        return await anyio.to_thread.run_sync(read, limiter=self._threads)

    async def _read_all(self, after: int) -> list[tables.Event]:
        return await anyio.to_thread.run_sync(events.read_all, self.platform, after, BATCH, limiter=self._threads)

    async def _newest(self) -> int:
        return await anyio.to_thread.run_sync(events.newest, self.platform, limiter=self._threads)


async def as_server_sent(source: AsyncIterator[Event | None]) -> AsyncIterator[str]:
    """The text of the stream: an id and a JSON object an event; a comment as heartbeat.

    The first message has a name of its own: a page to which it does not come knows that something holds the
    stream back.
    """
    yield "retry: 1000\n\nevent: begun\ndata: {}\n\n"
    async for event in source:
        yield ": still here\n\n" if event is None else written(event)


_last: tuple[Event | None, str] = (None, "")


def written(event: Event) -> str:
    """The message of an event; one that a whole class is told of is written once."""
    global _last  # a cache of one; the loop's own thread alone comes here
    if _last[0] is not event:
        data = json.dumps(event.model_dump(mode="json"), ensure_ascii=False)
        _last = (event, f"id: {event.id}\ndata: {data}\n\n")
    return _last[1]


def response(source: AsyncIterator[Event | None]) -> StreamingResponse:
    """The stream as a response that no proxy keeps back."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(as_server_sent(source), media_type="text/event-stream", headers=headers)
