"""Every refusal is {code, message, hint, details} in the caller's language, on every route."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from qianka import errors
from qianka.errors import QiankaError, Text
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]

PUBLIC = {
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/activate"),
    ("GET", "/api/auth/methods"),
    ("GET", "/api/version"),
    ("GET", "/api/auth/key"),
    ("GET", "/api/auth/oidc/start"),
    ("GET", "/api/auth/oidc/back"),
    ("GET", "/api/auth/cas/start"),
    ("GET", "/api/auth/cas/back"),
    ("GET", "/api/health"),
    ("GET", "/api/screen"),
    ("GET", "/api/openapi.json"),
}


def endpoints(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and path template of every API route."""
    for path, methods in app.openapi()["paths"].items():
        for method in methods:
            yield method.upper(), path


def filled(path: str) -> str:
    """A path with its parameters filled in by names that do not exist."""
    return re.sub(r"\{(\w+)\}", lambda found: "1" if found[1].endswith("_id") else "nothing", path)


def assert_shape(body: object) -> None:
    assert isinstance(body, dict)
    assert set(body) == {"code", "message", "hint", "details"}
    assert isinstance(body["code"], str)
    assert isinstance(body["message"], str)
    assert body["message"]
    assert body["hint"] is None or isinstance(body["hint"], str)
    assert isinstance(body["details"], dict)


def test_every_route_but_a_few_needs_a_sign_in(app: FastAPI, anonymous: TestClient) -> None:
    seen = set(endpoints(app))
    assert len(seen) > 15
    assert {("POST", "/api/auth/login"), ("POST", "/api/auth/activate")} <= seen
    for method, path in sorted(seen - PUBLIC):
        answer = anonymous.request(method, filled(path))
        assert answer.status_code == 401, (method, path)
        assert_shape(answer.json())
        assert answer.json()["code"] == "not_signed_in"


def test_routes_outside_of_the_api_are_pages_and_files(app: FastAPI) -> None:
    hidden = {route.path for route in app.routes if isinstance(route, APIRoute) and not route.include_in_schema}
    assert not [path for path in hidden if path.startswith("/api")]


def test_a_stranger_gets_the_shape_everywhere(app: FastAPI, platform: Platform, with_token: SignIn) -> None:
    client = with_token(factories.make_person(platform))
    for method, path in sorted(set(endpoints(app)) - PUBLIC):
        if path == "/api/events":
            continue
        answer = client.request(method, filled(path), headers={"Idempotency-Key": "k" * 16})
        if answer.status_code >= 400:
            assert_shape(answer.json())
            assert answer.status_code < 500, (method, path, answer.text)


@pytest.mark.parametrize(
    ("language", "message"),
    [("en", "sign in first"), ("zh-CN,zh;q=0.9,en;q=0.8", "需要先登录"), ("fr, en;q=0.5", "sign in first")],
)
def test_language_follows_the_request(anonymous: TestClient, language: str, message: str) -> None:
    assert anonymous.get("/api/me", headers={"Accept-Language": language}).json()["message"] == message


def test_language_of_the_person_where_the_request_names_none(platform: Platform, with_token: SignIn) -> None:
    client = with_token(factories.make_person(platform, language="en"))
    client.headers["Accept-Language"] = "fr"
    assert client.get("/api/jobs/j-none").json()["message"].startswith("there is no")


def test_an_unexpected_error_shows_a_number_and_nothing_else(app: FastAPI, anonymous: TestClient) -> None:
    @app.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("secret of the house")

    answer = anonymous.get("/api/broken", headers={"Accept-Language": "en"})
    assert answer.status_code == 500
    assert_shape(answer.json())
    assert answer.json()["code"] == "platform_fault"
    assert re.fullmatch(r"[0-9a-f]{8}", answer.json()["details"]["fault"])
    assert "secret of the house" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "kind", [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, QiankaError)]
)
def test_each_kind_has_its_status(app: FastAPI, anonymous: TestClient, kind: type[QiankaError]) -> None:
    @app.get("/api/refuses")
    def refuses() -> None:
        raise kind(Text("不行", "no"), Text("这样做", "do this"), reason="because", left=3)

    answer = anonymous.get("/api/refuses", headers={"Accept-Language": "en"})
    assert answer.status_code == kind.http_status
    assert answer.json() == {
        "code": kind.code,
        "message": "no",
        "hint": "do this",
        "details": {"left": 3, "reason": "because"},
    }


def test_unknown_address_and_wrong_method_have_the_shape(anonymous: TestClient) -> None:
    missing, wrong = anonymous.get("/api/nothing"), anonymous.put("/api/version")
    assert (missing.status_code, wrong.status_code) == (404, 405)
    assert_shape(missing.json())
    assert_shape(wrong.json())
    assert wrong.headers["allow"] == "GET"
