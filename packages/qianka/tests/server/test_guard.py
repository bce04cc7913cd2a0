"""What stands before every route."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import Request
from qianka.server.app import create_app
from qianka.server.auth import address_of
from qianka.services.platform import Platform
from qianka.settings import Settings
from starlette.testclient import TestClient

PAGES = ["/", "/api/version", "/api/me", "/api/nothing", "/lab/somewhere", "/static/app/nothing.js"]


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_is_hardened(anonymous: TestClient, path: str) -> None:
    headers = anonymous.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("host", ["localhost", "localhost:8750", "127.0.0.1:1", "[::1]:80", "192.0.2.7"])
def test_our_names_and_addresses_are_answered(anonymous: TestClient, host: str) -> None:
    assert anonymous.get("/api/version", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example:x"])
def test_other_names_are_not(anonymous: TestClient, host: str) -> None:
    # A name of the attacker's that points here would let their page read our answers.
    assert anonymous.get("/api/version", headers={"Host": host}).status_code == 400


def test_a_name_may_be_added(platform: Platform, tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), server_hosts="ai.example.edu, other.example")
    with TestClient(create_app(settings, platform), base_url="http://ai.example.edu") as client:
        assert client.get("/api/version").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_changes_from_another_site_are_refused(anonymous: TestClient, headers: dict[str, str]) -> None:
    answer = anonymous.post("/api/auth/login", json={"login": "a", "password": "b"}, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["details"]["reason"] == "cross_site"


def test_changes_from_our_own_pages_are_let_in(anonymous: TestClient) -> None:
    headers = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    answer = anonymous.post("/api/auth/login", json={"login": "a", "password": "b"}, headers=headers)
    assert answer.status_code == 401


def test_a_big_body_is_refused_before_it_is_read(anonymous: TestClient) -> None:
    answer = anonymous.post("/api/auth/login", content=b" " * (5 << 20))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_big_body_of_unknown_length_is_cut_off(anonymous: TestClient) -> None:
    def endless() -> object:
        for _ in range(100):
            yield b" " * (1 << 20)

    answer = anonymous.post("/api/auth/login", content=endless())  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_trusted_proxy_says_who_asks_and_how(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), server_trusted_proxies="127.0.0.1, 10.0.0.0/8")
    seen = _asked_through(settings, peer="10.1.2.3", said="203.0.113.7")
    assert (seen["address"], seen["scheme"]) == ("203.0.113.7", "https")
    assert seen["hsts"] == "max-age=31536000"


def test_what_a_stranger_says_of_itself_is_not_believed(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), server_trusted_proxies="10.0.0.0/8")
    seen = _asked_through(settings, peer="192.0.2.1", said="203.0.113.7")
    assert (seen["address"], seen["scheme"], seen["hsts"]) == ("192.0.2.1", "http", None)


def _asked_through(settings: Settings, peer: str, said: str) -> dict[str, str | None]:
    """What a route sees of a request that came from `peer`, which says that it is for `said` by TLS."""
    app = create_app(settings)

    @app.get("/api/seen")
    def seen(request: Request) -> dict[str, str | None]:
        return {"address": address_of(request), "scheme": request.url.scheme}

    headers = {"x-forwarded-for": said, "x-forwarded-proto": "https"}
    client = TestClient(app, base_url="http://localhost", client=(peer, 4000))
    answer = client.get("/api/seen", headers=headers)
    return {**answer.json(), "hsts": answer.headers.get("strict-transport-security")}
