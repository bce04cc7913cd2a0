"""While the database is away people are told to wait; afterwards the server goes on by itself, live pages too."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from qianka.schemas.events import Event
from qianka.server.app import create_app
from qianka.server.events import Tail
from qianka.services import events, people
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.opening import open_store
from qianka.testing import factories
from qianka.testing.postgres import PostgresServer
from starlette.testclient import TestClient


@pytest.fixture
def platform(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[Platform]:
    found = Settings(data_dir=str(tmp_path / "data"), database_url=own_postgres.database())
    platform = Platform(settings=found, store=open_store(found))
    platform.folders.make()
    yield platform
    platform.store.close()


def test_requests_while_the_database_is_restarted(platform: Platform, own_postgres: PostgresServer) -> None:
    person = factories.make_person(platform, admin=True)
    secret = people.issue_token(platform, factories.caller_of(person), "test").secret
    headers = {"Authorization": f"Bearer {secret}", "Accept-Language": "en"}
    app = create_app(platform.settings, platform)
    with TestClient(app, base_url="http://localhost", headers=headers, raise_server_exceptions=False) as client:
        assert client.get("/api/me").status_code == 200
        own_postgres.stop(signal.SIGQUIT)
        answer = client.get("/api/me")
        assert answer.status_code == 503
        told = answer.json()
        assert (told["code"], told["details"]["reason"]) == ("unavailable", "database")
        assert "try again" in told["hint"]
        own_postgres.start()
        assert client.get("/api/me").status_code == 200


async def next_number(stream: AsyncIterator[Event | None]) -> int:
    """The number of the next event; heartbeats are passed over."""
    while True:
        event = await asyncio.wait_for(anext(stream), 60)
        if event is not None:
            return int(event.payload["number"])


def test_a_live_stream_goes_on_after_a_restart(platform: Platform, own_postgres: PostgresServer) -> None:
    def emit(number: int) -> None:
        with platform.store.transaction() as session:
            events.emit(session, platform, "job:a", "x", number=number)

    async def play() -> list[int]:
        tail = Tail(platform, poll=0.05)
        tail.start()
        seen = []
        try:
            stream = tail.stream(["job:a"], 0, lambda: True)
            await asyncio.to_thread(emit, 1)
            seen.append(await next_number(stream))
            await asyncio.to_thread(own_postgres.stop, signal.SIGQUIT)
            await asyncio.sleep(0.3)  # a few looks in vain
            await asyncio.to_thread(own_postgres.start)
            await asyncio.to_thread(emit, 2)
            seen.append(await next_number(stream))
        finally:
            await tail.stop()
        return seen

    assert asyncio.run(play()) == [1, 2]
