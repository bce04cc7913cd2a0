"""A server in this process, with people who are signed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from qianka.server.app import create_app
from qianka.services import people
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing import factories
from starlette.testclient import TestClient

PASSWORD = "correct horse 9"
ADDRESS = "http://localhost"

SignIn = Callable[[Person], TestClient]


@pytest.fixture
def app(platform: Platform) -> FastAPI:
    return create_app(platform.settings, platform)


@pytest.fixture
def anonymous(app: FastAPI) -> Iterator[TestClient]:
    """A client that is not signed in."""
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


@pytest.fixture
def with_token(app: FastAPI, anonymous: TestClient, platform: Platform) -> SignIn:
    """Signs a person in as the command line does."""

    def sign_in(person: Person) -> TestClient:
        secret = people.issue_token(platform, factories.caller_of(person), "test").secret
        headers = {"Authorization": f"Bearer {secret}", "Accept-Language": "en"}
        return TestClient(app, base_url=ADDRESS, headers=headers, raise_server_exceptions=False, follow_redirects=False)

    return sign_in
