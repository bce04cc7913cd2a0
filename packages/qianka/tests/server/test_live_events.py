"""The live stream: one poll for all, resumed without a gap, ended when the server stops or the person signs out."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from qianka.client import live
from qianka.client.transport import Transport
from qianka.schemas.events import Event
from qianka.server.app import open_platform
from qianka.server.events import Tail, as_server_sent
from qianka.services import events, people
from qianka.services.platform import Platform
from qianka.settings import Settings, with_environment
from qianka.store.repos import records
from qianka.store.upgrade import upgrade
from qianka.testing import factories


def emit(platform: Platform, topic: str, count: int = 1, start: int = 0) -> None:
    for number in range(start, start + count):
        with platform.store.transaction() as session:
            events.emit(session, platform, topic, "stage", number=number)


async def take(stream: AsyncIterator[Event | None], count: int) -> list[int]:
    """The numbers of the next events."""
    found: list[int] = []
    while len(found) < count:
        event = await asyncio.wait_for(anext(stream), 10)
        if event is not None:
            found.append(event.payload["number"])
    return found


def run(platform: Platform, scene: Callable[[Tail], Any]) -> None:
    async def play() -> None:
        tail = Tail(platform, poll=0.02)
        tail.start()
        try:
            await scene(tail)
        finally:
            await tail.stop()

    asyncio.run(play())


def test_events_come_in_order_and_only_of_the_topics(platform: Platform) -> None:
    async def scene(tail: Tail) -> None:
        emit(platform, "job:a", 3)
        stream = tail.stream(["job:a"], 0, lambda: True)
        assert await take(stream, 3) == [0, 1, 2]
        emit(platform, "job:b", 2, start=50)
        emit(platform, "job:a", 2, start=3)
        assert await take(stream, 2) == [3, 4]

    run(platform, scene)


def test_a_listener_resumes_after_its_last_event(platform: Platform) -> None:
    async def scene(tail: Tail) -> None:
        emit(platform, "job:a", 5)
        with platform.store.reading() as session:
            third = records.events_after(session, ["job:a"], 0, 3)[-1].id
        assert await take(tail.stream(["job:a"], third, lambda: True), 2) == [3, 4]

    run(platform, scene)


def test_nothing_is_lost_between_what_was_and_what_comes(platform: Platform) -> None:
    """Listeners join while a writer never rests: each must see every number once."""

    async def scene(tail: Tail) -> None:
        total = 120
        writer = threading.Thread(target=emit, args=(platform, "job:a", total))
        writer.start()
        streams = []
        for _ in range(10):
            streams.append(tail.stream(["job:a"], 0, lambda: True))
            await asyncio.sleep(0.01)
        seen = await asyncio.gather(*(take(stream, total) for stream in streams))
        writer.join()
        assert all(numbers == list(range(total)) for numbers in seen)

    run(platform, scene)


def test_without_a_cursor_only_what_is_new(platform: Platform) -> None:
    async def scene(tail: Tail) -> None:
        emit(platform, "board:1", 5)
        stream = tail.stream(["board:1"], None, lambda: True)
        waiting = asyncio.ensure_future(take(stream, 1))
        while not any(listener.joined.is_set() for listener in tail.listeners):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        emit(platform, "board:1", 1, start=9)
        assert await waiting == [9]

    run(platform, scene)


def test_many_listeners_are_one_poll(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0
    read = events.read

    def counted(*arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return read(*arguments)

    async def scene(tail: Tail) -> None:
        streams = [tail.stream(["job:a"], None, lambda: True) for _ in range(50)]
        waiting = [asyncio.ensure_future(take(stream, 1)) for stream in streams]
        while sum(listener.joined.is_set() for listener in tail.listeners) < 50:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        monkeypatch.setattr("qianka.services.events.read", counted)
        emit(platform, "job:a")
        await asyncio.gather(*waiting)
        assert reads < 10

    run(platform, scene)


def test_a_sign_out_ends_the_stream(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qianka.server.events.HEARTBEAT", 0.05)

    async def scene(tail: Tail) -> None:
        allowed = True
        stream = tail.stream(["job:a"], 0, lambda: allowed)
        assert await asyncio.wait_for(anext(stream), 5) is None  # a heartbeat
        allowed = False
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(stream), 5)

    run(platform, scene)


def test_a_slow_listener_is_cut_off_and_not_the_others(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qianka.server.events.WAITING", 5)

    async def scene(tail: Tail) -> None:
        slow, quick = (tail.stream(["job:a"], 0, lambda: True) for _ in "12")
        emit(platform, "job:a")
        assert await take(slow, 1) == await take(quick, 1) == [0]
        for number in range(1, 12):
            emit(platform, "job:a", 1, start=number)
            assert await take(quick, 1) == [number]
        with pytest.raises(StopAsyncIteration):
            await take(slow, 12)

    run(platform, scene)


def test_the_text_of_the_stream() -> None:
    async def source() -> AsyncIterator[Event | None]:
        yield Event.model_validate(
            {"id": 7, "at": "2026-12-01T00:00:00Z", "topic": "job:a", "kind": "ended", "payload": {"x": "第\n二行"}}
        )
        yield None

    async def read() -> list[str]:
        return [piece async for piece in as_server_sent(source())]

    pieces = asyncio.run(read())
    assert "event: begun" in pieces[0]
    assert pieces[1].startswith("id: 7\ndata: {")
    assert pieces[1].count("\n") == 3
    assert pieces[2].startswith(":")
    assert [event.payload["x"] for event in live.parse("".join(pieces).split("\n"))] == ["第\n二行"]


@dataclass(frozen=True)
class Served:
    """A server as a process of its own, with a student who has a job."""

    address: str
    token: str
    job: str
    platform: Platform
    process: subprocess.Popen[bytes]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    platform = open_platform(Settings(data_dir=str(tmp_path / "real")))
    upgrade(platform.store)
    student = factories.make_person(platform, "alice")
    job = factories.make_job(platform, student)
    token = people.issue_token(platform, factories.caller_of(student)).secret
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-m", "qianka.server", "--child", "--fd", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env=with_environment({"data.dir": tmp_path / "real"}),
        )
        with process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["ready"] is True
            port = listener.getsockname()[1]
            yield Served(f"http://127.0.0.1:{port}", token, job.id, platform, process)
            process.kill()
    platform.store.close()


def test_a_client_hears_of_its_job(served: Served) -> None:
    emit(served.platform, f"job:{served.job}", 2)
    transport = Transport(served.address, served.token)
    heard = live.follow(transport, [f"job:{served.job}"])
    numbers: list[int] = []
    while len(numbers) < 2:
        event = next(heard)
        if "number" in event.payload:
            numbers.append(event.payload["number"])
    assert numbers == [0, 1]
    transport.close()


def test_the_stream_ends_when_the_server_is_told_to_stop(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    with httpx.stream("GET", f"{served.address}/api/events?topics=job:{served.job}", headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        served.process.send_signal(signal.SIGTERM)
        list(lines)  # ends, and is not cut off: httpx would raise
    assert served.process.wait(8) in (0, -signal.SIGTERM)


def test_the_server_ends_with_its_parent(served: Served) -> None:
    assert served.process.stdin is not None
    served.process.stdin.close()
    assert served.process.wait(10) == 0
