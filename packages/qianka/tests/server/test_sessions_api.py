"""Browsers in which one is signed in, the alias, and the code that is typed as a password."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from qianka.services import people
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]
PASSWORD = "correct horse 9"


def browser(app: FastAPI, login: str, agent: str) -> TestClient:
    client = TestClient(app, base_url="http://localhost", headers={"User-Agent": agent})
    answer = client.post("/api/auth/login", json={"login": login, "password": PASSWORD})
    assert answer.status_code == 200
    client.headers["X-CSRF-Token"] = answer.json()["csrf"]
    return client


def test_one_sees_and_ends_ones_own_sessions(app: FastAPI, anonymous: TestClient, platform: Platform) -> None:
    alice, bob = factories.make_person(platform, "alice"), factories.make_person(platform, "bob")
    for person in (alice, bob):
        people.set_password(platform, Caller.system(), person.login, PASSWORD)
    phone, laptop = browser(app, "alice", "Phone/1"), browser(app, "alice", "Laptop/2")
    other = browser(app, "bob", "Bob/1")
    listed = laptop.get("/api/me/sessions").json()
    assert [(one["agent"], one["current"]) for one in listed] == [("Laptop/2", True), ("Phone/1", False)]
    assert listed[0]["address"] == "testclient"
    phones = listed[1]["id"]
    assert other.delete(f"/api/me/sessions/{phones}").status_code == 404
    assert laptop.delete(f"/api/me/sessions/{phones}").status_code == 204
    assert phone.get("/api/me").status_code == 401


def test_ending_all_others_keeps_this_one_and_the_tokens(
    app: FastAPI, anonymous: TestClient, platform: Platform
) -> None:
    alice = factories.make_person(platform, "alice")
    people.set_password(platform, Caller.system(), alice.login, PASSWORD)
    token = people.issue_token(platform, factories.caller_of(alice), "laptop").secret
    phone, laptop = browser(app, "alice", "Phone/1"), browser(app, "alice", "Laptop/2")
    assert laptop.delete("/api/me/sessions").status_code == 204
    assert phone.get("/api/me").status_code == 401
    assert laptop.get("/api/me").status_code == 200
    by_token = TestClient(app, base_url="http://localhost", headers={"Authorization": f"Bearer {token}"})
    assert by_token.get("/api/me").status_code == 200


def test_an_alias_is_ones_own_and_can_be_seen(platform: Platform, classroom: Any, with_token: SignIn) -> None:
    alice, bob = with_token(classroom.alice), with_token(classroom.bob)
    assert alice.patch("/api/me", json={"alias": "  Night  Owl "}).json()["alias"] == "Night Owl"
    taken = bob.patch("/api/me", json={"alias": "Night Owl"})
    assert (taken.status_code, taken.json()["details"]["reason"]) == (409, "alias_taken")
    for bad in ("\u200b", "a\u202eb", "x" * 21):
        assert bob.patch("/api/me", json={"alias": bad}).status_code == 400
    assert bob.patch("/api/me", json={"alias": "Night Owl "}).status_code == 409


def test_a_code_in_the_place_of_a_password_leads_to_activation(anonymous: TestClient, platform: Platform) -> None:
    _, code = people.create_person(platform, Caller.system(), login="carol", name="Carol")
    answer = anonymous.post("/api/auth/login", json={"login": "carol", "password": code})
    assert (answer.status_code, answer.json()["details"]["reason"]) == (401, "activate_first")
    wrong = anonymous.post("/api/auth/login", json={"login": "carol", "password": "AAAA-BBBB"})
    assert wrong.json()["details"]["reason"] == "wrong_password"


def test_ways_to_sign_in_are_told_before_signing_in(anonymous: TestClient) -> None:
    assert [one["kind"] for one in anonymous.get("/api/auth/methods").json()] == ["local"]
    answer = anonymous.post("/api/auth/login", json={"login": "a", "password": "b", "method": "nope"})
    assert answer.status_code == 404
