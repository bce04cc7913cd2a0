"""The client: what failed on the way is sent again only where that is safe; what was refused is raised as told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from qianka import errors
from qianka.client.api import Client
from qianka.client.transport import Transport, normal_address, wait_before
from qianka.errors import QiankaError

Answer = Callable[[httpx.Request], httpx.Response]


def client(answer: Answer, waits: list[float] | None = None, tries: int = 4) -> Client:
    slept = [] if waits is None else waits
    return Client(
        Transport("localhost:1", "secret", "en", tries=tries, sleep=slept.append, transport=httpx.MockTransport(answer))
    )


def failing(times: int, then: httpx.Response) -> tuple[Answer, list[httpx.Request]]:
    """A server that cannot be reached `times` times."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        request.read()
        seen.append(request)
        if len(seen) <= times:
            raise httpx.ConnectError("refused", request=request)
        return then

    return answer, seen


VERSION = httpx.Response(200, json={"version": "1"})
HANDED = {
    "submission": {
        "id": "s-1", "cohort": "c", "lab": "l", "login": "a", "filename": "f", "size": 3, "archive_sha256": "0",
        "state": "accepted", "submitted_at": "2026-12-01T00:00:00Z",
    },
    "receipt": "{}",
}  # fmt: skip


def test_reading_is_tried_again_with_growing_waits() -> None:
    answer, seen = failing(3, VERSION)
    waits: list[float] = []
    assert client(answer, waits).version().version == "1"
    assert len(seen) == 4
    assert len(waits) == 3
    assert waits[0] < 0.11
    assert waits[2] > waits[0]


def test_it_gives_up_and_says_what_to_do() -> None:
    answer, seen = failing(99, VERSION)
    with pytest.raises(errors.Unavailable) as caught:
        client(answer).version()
    assert len(seen) == 4
    assert "qianka up" in str(caught.value.hint)


def test_a_sign_in_is_never_sent_twice() -> None:
    answer, seen = failing(1, VERSION)
    with pytest.raises(errors.Unavailable):
        client(answer).login("a", "b")
    assert len(seen) == 1


def test_a_hand_in_is_sent_again_with_the_same_key_and_all_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(b"PK!" * 300_000)
    answer, seen = failing(2, httpx.Response(201, json=HANDED))
    progress: list[int] = []
    handed = client(answer).hand_in("c", "l", file, filename="作业 1.zip", progress=progress.append)
    assert handed.submission.id == "s-1"
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
    assert all(request.content == file.read_bytes() for request in seen)
    assert all(request.headers["Content-Length"] == str(file.stat().st_size) for request in seen)
    assert seen[0].headers["X-Filename"] == "%E4%BD%9C%E4%B8%9A%201.zip"
    assert progress[-1] == file.stat().st_size


def test_each_hand_in_has_a_key_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(b"PK")
    answer, seen = failing(0, httpx.Response(201, json=HANDED))
    speaker = client(answer)
    speaker.hand_in("c", "l", file, filename="a")
    speaker.hand_in("c", "l", file, filename="a")
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 2


def test_a_server_that_is_starting_is_waited_for() -> None:
    answers = iter([httpx.Response(503, text="starting"), VERSION])
    assert client(lambda request: next(answers)).version().version == "1"


@pytest.mark.parametrize("kind", [errors.NotFound, errors.Forbidden, errors.OverLimit, errors.Refused, errors.Conflict])
def test_a_refusal_is_raised_as_it_was_told(kind: type[QiankaError]) -> None:
    told = {
        "code": kind.code,
        "message": "不行",
        "hint": "这样",
        "details": {"reason": "why", "left": 2, "message": "x"},
    }
    with pytest.raises(kind) as caught:
        client(lambda request: httpx.Response(kind.http_status, json=told)).version()
    assert (caught.value.message.zh, caught.value.reason, caught.value.details) == ("不行", "why", {"left": 2})


@pytest.mark.parametrize("body", ["<html>proxy</html>", "[]", '{"detail": "x"}'])
def test_what_is_not_ours_is_said_to_be(body: str) -> None:
    with pytest.raises(errors.PlatformFault, match="unreadable"):
        client(lambda request: httpx.Response(404, text=body)).version()


def test_a_name_cannot_leave_its_place_in_the_address() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=[])

    client(answer).labs("../../auth?x=")
    assert seen[0].url.raw_path == b"/api/cohorts/..%2F..%2Fauth%3Fx%3D/labs"


def test_the_token_goes_through_no_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert Transport("localhost:1", "secret").http._trust_env is False


@pytest.mark.parametrize(
    ("given", "address"),
    [("localhost:8750", "http://localhost:8750"), ("https://x.edu/", "https://x.edu"), (" http://y ", "http://y")],
)
def test_addresses(given: str, address: str) -> None:
    assert normal_address(given) == address


def test_waits_are_bounded() -> None:
    assert all(0.05 <= wait_before(number) <= 5 for number in range(1, 50))


def test_a_list_is_read_to_its_end() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        start = int(request.url.params.get("after", 0))
        items = [{"login": f"p{number}", "name": "x"} for number in range(start, min(start + 2, 5))]
        return httpx.Response(200, json={"items": items, "next": str(start + 2) if start + 2 < 5 else None})

    assert [person.login for person in client(answer).people("c")] == ["p0", "p1", "p2", "p3", "p4"]


def test_a_lost_stream_is_resumed_after_its_last_event() -> None:
    seen: list[str | None] = []

    def body(number: int) -> Iterator[bytes]:
        line = f'{{"id": {number}, "at": "2026-12-01T00:00:00Z", "topic": "job:a", "kind": "x"}}'
        yield f"id: {number}\ndata: {line}\n\n".encode()
        if number < 3:
            raise httpx.ReadError("gone")

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Last-Event-ID"))
        return httpx.Response(200, content=body(len(seen)))

    events = client(answer).follow(["job:a"])
    assert [next(events).id for _ in range(3)] == [1, 2, 3]
    assert seen == [None, "1", "2"]
