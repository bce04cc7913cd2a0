"""Signing in and out over HTTP: cookies and CSRF for browsers, bearer tokens for the command line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from qianka.services import people
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

ADDRESS = "http://localhost"
PASSWORD = "correct horse 9"
SignIn = Callable[[Person], TestClient]


@pytest.fixture
def alice(platform: Platform) -> Person:
    person = factories.make_person(platform, "alice")
    people.set_password(platform, Caller.system(), "alice", PASSWORD)
    return person


def test_browser_gets_a_cookie_that_scripts_cannot_read(anonymous: TestClient, alice: Person) -> None:
    answer = anonymous.post("/api/auth/login", json={"login": "Alice", "password": PASSWORD})
    assert answer.status_code == 200
    assert answer.json()["token"] is None
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert anonymous.get("/api/me").json()["login"] == "alice"


def test_command_line_gets_a_token_and_no_cookie(anonymous: TestClient, alice: Person) -> None:
    answer = anonymous.post("/api/auth/login", json={"login": "alice", "password": PASSWORD, "token": True})
    assert "set-cookie" not in answer.headers
    token = answer.json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert anonymous.get("/api/me", headers=headers).json()["login"] == "alice"
    assert anonymous.post("/api/auth/logout", headers=headers).status_code == 204
    assert anonymous.get("/api/me", headers=headers).status_code == 401


def test_wrong_password_and_unknown_login_answer_alike(anonymous: TestClient, alice: Person) -> None:
    wrong = anonymous.post("/api/auth/login", json={"login": "alice", "password": "not hers"})
    nobody = anonymous.post("/api/auth/login", json={"login": "mallory", "password": "not hers"})
    assert wrong.status_code == nobody.status_code == 401
    assert wrong.json() == nobody.json()


def test_a_change_by_cookie_needs_the_csrf_token(anonymous: TestClient, alice: Person) -> None:
    csrf = anonymous.post("/api/auth/login", json={"login": "alice", "password": PASSWORD}).json()["csrf"]
    refused = anonymous.post("/api/tokens", json={"note": "x"})
    assert (refused.status_code, refused.json()["details"]["reason"]) == (403, "csrf")
    wrong = anonymous.post("/api/tokens", json={"note": "x"}, headers={"X-CSRF-Token": csrf + "x"})
    assert wrong.status_code == 403
    assert anonymous.post("/api/tokens", json={"note": "x"}, headers={"X-CSRF-Token": csrf}).status_code == 201


def test_a_session_secret_is_no_bearer_token(anonymous: TestClient, alice: Person) -> None:
    # Otherwise a stolen cookie would do without the CSRF token.
    anonymous.post("/api/auth/login", json={"login": "alice", "password": PASSWORD})
    secret = anonymous.cookies["qianka_session"]
    anonymous.cookies.clear()
    assert anonymous.get("/api/me", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_token_secret_is_shown_once(with_token: SignIn, alice: Person) -> None:
    client = with_token(alice)
    made = client.post("/api/tokens", json={"note": "laptop"}).json()
    assert made["secret"]
    listed = client.get("/api/tokens").json()
    assert {"laptop", "test"} == {token["note"] for token in listed}
    assert "secret" not in listed[0]
    assert [token["note"] for token in listed if token["current"]] == ["test"]
    assert client.delete(f"/api/tokens/{made['id']}").status_code == 204
    assert (
        TestClient(client.app, ADDRESS, headers={"Authorization": f"Bearer {made['secret']}"})
        .get("/api/me")
        .status_code
        == 401
    )


def test_activation_code_becomes_a_password_once(anonymous: TestClient, platform: Platform) -> None:
    _, code = people.create_person(platform, Caller.system(), login="bob", name="Bob")
    body = {"login": "bob", "code": code, "password": PASSWORD}
    assert anonymous.post("/api/auth/activate", json=body).status_code == 204
    assert anonymous.post("/api/auth/activate", json=body).status_code == 401
    assert anonymous.post("/api/auth/login", json={"login": "bob", "password": PASSWORD}).status_code == 200


def test_refused_request_does_not_repeat_the_password(anonymous: TestClient) -> None:
    answer = anonymous.post("/api/auth/login", json={"login": "", "password": "hunter2hunter2", "extra": 1})
    assert answer.status_code == 400
    assert "hunter2" not in answer.text


def test_signing_out_needs_the_token_of_the_page(anonymous: TestClient, alice: Person) -> None:
    anonymous.post("/api/auth/login", json={"login": "alice", "password": PASSWORD})
    assert anonymous.post("/api/auth/logout").status_code == 403
    csrf = anonymous.get("/api/me").json()["csrf"]
    assert anonymous.post("/api/auth/logout", headers={"X-CSRF-Token": csrf}).status_code == 204
    assert anonymous.get("/api/me").status_code == 401


def test_a_person_changes_password_and_profile(with_token: SignIn, alice: Person, anonymous: TestClient) -> None:
    client = with_token(alice)
    assert client.patch("/api/me", json={"language": "en", "show_name": True}).json()["language"] == "en"
    assert client.patch("/api/me", json={"is_admin": True}).status_code == 400
    wrong = client.post("/api/me/password", json={"old": "no", "new": "another horse 9"})
    assert wrong.status_code == 401
    assert client.post("/api/me/password", json={"old": PASSWORD, "new": "another horse 9"}).status_code == 204
    assert client.get("/api/me").status_code == 200
    signed_in = anonymous.post("/api/auth/login", json={"login": "alice", "password": "another horse 9"})
    assert signed_in.status_code == 200
