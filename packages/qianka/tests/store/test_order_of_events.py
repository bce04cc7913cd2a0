"""Nothing that is committed escapes who reads on from the last number seen, however commits overlap."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

import pytest
from qianka.server.events import Tail
from qianka.services import events
from qianka.services.platform import Platform
from qianka.store.session import Store
from qianka.store.tables import Event
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import text
from sqlalchemy.orm import Session


def ids(platform: Platform) -> list[int]:
    return [event.id for event in events.read(platform, ["job:a", "job:b"], 0)]


@contextlib.contextmanager
def in_thread(platform: Platform, topic: str, begun: threading.Event, finish: threading.Event) -> Iterator[list[int]]:
    """Another connection that emits on `topic` and commits when `finish` is set."""
    made: list[int] = []

    def work() -> None:
        begun.set()
        with platform.store.transaction() as session:
            made.append(emit(session, platform, topic))
            assert finish.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield made
    finally:
        finish.set()
        thread.join(30)


def emit(session: Session, platform: Platform, topic: str) -> int:
    events.emit(session, platform, topic, "x")
    session.flush()
    return session.query(Event).order_by(Event.id.desc()).limit(1).one().id


def test_who_began_later_gets_the_higher_number_and_never_commits_first(platform: Platform) -> None:
    """Connection one emits and stays open; two emits meanwhile. Were two's event seen first, one's would be lost."""
    begun, finish = threading.Event(), threading.Event()
    with platform.store.transaction() as one:
        first = emit(one, platform, "job:a")
        with in_thread(platform, "job:b", begun, finish) as made:
            assert begun.wait(10)
            finish.set()  # two may commit as soon as it can
            assert ids(platform) == []  # nothing of either is to be seen, and two waits for its turn
            assert made == []
            one.commit()
    assert made
    assert made[0] > first
    assert ids(platform) == [first, made[0]]


def test_a_stream_misses_nothing_while_many_connections_write_at_once(platform: Platform) -> None:
    writers, each = 6, 15

    def write(number: int) -> None:
        for turn in range(each):
            with platform.store.transaction() as session:
                events.emit(session, platform, "job:a", "x", number=number, turn=turn)
                session.flush()
                session.execute(text("SELECT 1"))

    async def play() -> list[tuple[int, int]]:
        tail = Tail(platform, poll=0.005)
        tail.start()
        threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
        seen: list[tuple[int, int]] = []
        try:
            stream = tail.stream(["job:a"], 0, lambda: True)
            for thread in threads:
                thread.start()
            while len(seen) < writers * each:
                event = await asyncio.wait_for(anext(stream), 20)
                if event is not None:
                    seen.append((event.payload["number"], event.payload["turn"]))
        finally:
            await tail.stop()
            for thread in threads:
                thread.join()
        return seen

    seen = asyncio.run(play())
    assert len(set(seen)) == writers * each
    for number in range(writers):
        assert [turn for who, turn in seen if who == number] == list(range(each))


def test_what_two_use_cases_read_and_then_write_is_not_lost(platform: Platform) -> None:
    """Eight add one to what they have read, as a counter of tries or a budget is kept."""

    def add() -> None:
        with platform.store.transaction() as session:
            row = session.query(Event).one()
            row.payload = {"count": row.payload["count"] + 1}

    with platform.store.transaction() as session:
        events.emit(session, platform, "job:a", "x", count=0)
    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.payload for event in events.read(platform, ["job:a"], 0)] == [{"count": 8}]


def test_a_reader_sees_one_instant_and_waits_for_nobody(platform: Platform) -> None:
    with platform.store.transaction() as session:
        events.emit(session, platform, "job:a", "x")
    with platform.store.reading() as reader:
        assert reader.query(Event).count() == 1
        with platform.store.transaction() as session:
            events.emit(session, platform, "job:a", "x")
            assert reader.query(Event).count() == 1  # while somebody writes
        assert reader.query(Event).count() == 1  # and after: the same snapshot
    assert len(ids(platform)) == 2


def test_a_nul_that_somebody_types_breaks_nothing(platform: Platform) -> None:
    with platform.store.transaction() as session:
        events.emit(session, platform, "job:a\0b", "x", text="\0 \ud800")
    (found,) = events.read(platform, ["job:a\0b"], 0)
    assert found.topic == "job:a\N{REPLACEMENT CHARACTER}b"
    assert found.payload == {"text": "\0 \ud800"}


@pytest.fixture
def statements(store: Store) -> Iterator[list[str]]:
    """What is sent to the database."""
    sent: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    sqlalchemy_event.listen(store.engine, "before_cursor_execute", note)
    yield sent
    sqlalchemy_event.remove(store.engine, "before_cursor_execute", note)


def test_reading_costs_no_lock(platform: Platform, database: str, statements: list[str]) -> None:
    events.newest(platform)
    assert not [one for one in statements if "advisory" in one]
    if database == "postgresql":
        with platform.store.transaction() as session:
            session.execute(text("SELECT 1"))
        assert "pg_advisory_xact_lock" in "".join(statements)
