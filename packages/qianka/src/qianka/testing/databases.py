"""The databases that the suites run on: SQLite, and a PostgreSQL server that this test run starts for itself.

A pytest plugin. `--databases sqlite` leaves PostgreSQL out. One server a run, shared by all xdist
workers, started by the first test that needs it and removed at the end; a fresh database a test.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qianka.store.session import Store
from qianka.testing.postgres import PostgresServer, programs
from qianka.testing.stores import Source

SUITES = tuple(f"packages/qianka/tests/{name}" for name in ("store", "services", "worker"))
"""the folders whose tests run on both"""
_place: list[Path] = []
"""where the server of this test run lies; the same in all its processes"""
_AFTERWARDS = (
    '(while kill -0 "$0"; do sleep 1; done; for again in 1 2 3 4 5; do'
    ' kill -QUIT "$(head -n 1 "$1/server/data/postmaster.pid")"; sleep 2; rm -rf "$1"; done)'
    " </dev/null >/dev/null 2>&1 &"
)
"""a test run that is killed cannot clean up: somebody waits for its end and does"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--databases", default="sqlite,postgresql", help="databases that the SQL suites run on")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sqlite_only: about SQLite, or about no database: not run on the others")
    told = getattr(config, "workerinput", None)
    if told is not None:
        _place.append(Path(told["postgres"]))
        return
    # Named before any worker process begins, so that all of them find the same one; made when it is needed.
    _place.append(Path(tempfile.gettempdir()) / f"qianka-pg-{os.getpid()}-{secrets.token_hex(4)}")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Of xdist: tell a worker process where the server is."""
    node.workerinput["postgres"] = str(_place[-1])


def pytest_unconfigure(config: pytest.Config) -> None:
    place = _place.pop()
    if not hasattr(config, "workerinput"):
        if (place / "server").exists():
            PostgresServer(place / "server").remove()
        shutil.rmtree(place, ignore_errors=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database" not in metafunc.fixturenames or metafunc.definition.get_closest_marker("sqlite_only"):
        return
    if any(metafunc.definition.path.is_relative_to(metafunc.config.rootpath / suite) for suite in SUITES):
        wanted = metafunc.config.getoption("--databases").split(",")
        metafunc.parametrize("database", wanted, indirect=True, scope="function")


def need_postgres() -> None:
    """Skip, with the reason, where PostgreSQL or its driver is not installed."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed (extra postgresql)")


def running_server() -> PostgresServer:
    """The server of this test run, started if need be; skips where PostgreSQL is not installed."""
    need_postgres()
    place = _place[-1]
    place.mkdir(exist_ok=True, mode=0o755)
    server = PostgresServer(place / "server")
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if server.pid() is None:
            subprocess.run(["/bin/sh", "-c", _AFTERWARDS, place.name.split("-")[2], place], check=True)
            server.make()
            server.start()
            server.make_template()
    return server


@pytest.fixture
def postgres() -> PostgresServer:
    """The PostgreSQL server of this test run."""
    return running_server()


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server that this test alone uses, and may stop and start."""
    need_postgres()
    place = Path(tempfile.mkdtemp(prefix="qianka-pg-"))
    place.chmod(0o755)
    server = PostgresServer(place / "server", synchronous_commit="on")  # a stop must lose nothing
    server.make()
    server.start()
    server.make_template()
    yield server
    server.remove()
    place.rmdir()


@pytest.fixture
def database_url(postgres: PostgresServer) -> Iterator[str]:
    """The address of a fresh PostgreSQL database with all tables."""
    url = postgres.database()
    yield url
    postgres.drop(url)


@pytest.fixture
def bare_database_url(postgres: PostgresServer) -> Iterator[str]:
    """The address of a fresh PostgreSQL database without tables."""
    url = postgres.database(bare=True)
    yield url
    postgres.drop(url)


@pytest.fixture(autouse=True)
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Which database `make_platform` and the fixture `store` are on: `sqlite` or `postgresql`."""
    kind: str = getattr(request, "param", "sqlite")
    made: list[tuple[Store, str]] = []
    if kind == "postgresql":
        monkeypatch.setattr(Source, "make", staticmethod(_maker(made)))
    yield kind
    for store, url in made:
        store.close()
        running_server().drop(url)


def _maker(made: list[tuple[Store, str]]) -> Callable[[], Store]:
    def make() -> Store:
        url = running_server().database()
        store = Store(url)
        made.append((store, url))
        return store

    return make
