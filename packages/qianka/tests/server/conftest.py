"""A server in this process, with people who are signed in and a published lab."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from qianka.cli import scaffold
from qianka.server.app import create_app
from qianka.services import labs, people
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Lab, Person
from qianka.testing import factories
from starlette.testclient import TestClient

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


@pytest.fixture
def in_browser(app: FastAPI, anonymous: TestClient, platform: Platform) -> SignIn:
    """Signs a person in as a browser does."""

    def sign_in(person: Person) -> TestClient:
        people.set_password(platform, Caller.system(), person.login, "correct horse 9")
        client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False)
        answer = client.post("/api/auth/login", json={"login": person.login, "password": "correct horse 9"})
        assert answer.status_code == 200
        return client

    return sign_in


@dataclass(frozen=True)
class Classroom:
    """A cohort with a teacher, two students and the lab of `qianka lab new`."""

    cohort: Cohort
    lab: Lab
    teacher: Person
    alice: Person
    bob: Person

    @property
    def path(self) -> str:
        return f"/api/cohorts/{self.cohort.slug}/labs/{self.lab.slug}"


@pytest.fixture
def classroom(platform: Platform, tmp_path: Path) -> Classroom:
    cohort = factories.make_cohort(platform, "ai-2026")
    teacher = factories.make_person(platform, "teacher")
    factories.enroll(platform, cohort, teacher, factories.Role.TEACHER)
    alice, bob = factories.make_student(platform, cohort, "alice"), factories.make_student(platform, cohort, "bob")
    folder = tmp_path / "lab2"
    scaffold.write(folder)
    lab = labs.publish(platform, factories.caller_of(teacher), cohort.slug, folder)
    return Classroom(cohort, lab, teacher, alice, bob)


@pytest.fixture
def archive() -> bytes:
    """A hand-in that the classroom's lab takes."""
    return zipped({"code/train.py": "print(1)\n", "code/predict.py": "print(2)\n", "README.md": "# mine\n"})


def zipped(files: dict[str, str]) -> bytes:
    """A zip of `files`."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as target:
        for name, text in files.items():
            target.writestr(name, text)
    return data.getvalue()


@pytest.fixture
def zip_of() -> Callable[[dict[str, str]], bytes]:
    return zipped
