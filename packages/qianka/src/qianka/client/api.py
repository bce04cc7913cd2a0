"""The platform's API as methods: schemas in, schemas out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

from qianka.client import live
from qianka.client.transport import Transport
from qianka.schemas.auth import Me, SignedIn, Token, TokenSecret
from qianka.schemas.base import Answer, Page
from qianka.schemas.boards import Board, Budget, Grade
from qianka.schemas.cohorts import Cohort
from qianka.schemas.events import Event
from qianka.schemas.jobs import Code, Job, JobLog, NewJob
from qianka.schemas.labs import Lab
from qianka.schemas.people import Person, PersonAdded, RosterApplied, RosterPreview
from qianka.schemas.submissions import Attempt, HandedIn, Submission
from qianka.schemas.system import Health, Version

Item = TypeVar("Item", bound=Answer)
Progress = Callable[[int], None]
"""told the bytes sent so far"""
CHUNK = 256 << 10


def new_key() -> str:
    """A fresh Idempotency-Key."""
    return uuid.uuid4().hex


class Client:
    """One person at one platform. Every method raises the QiankaError that the server answered with."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._get = transport.get
        self._post = transport.post

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.transport.close()

    # who one is

    def login(self, login: str, password: str, note: str = "") -> SignedIn:
        """Sign in for a bearer token."""
        body = {"login": login, "password": password, "token": True, "note": note}
        return SignedIn.model_validate(self._post("/api/auth/login", body))

    def activate(self, login: str, code: str, password: str) -> None:
        """Choose a password with a one-time code."""
        self._post("/api/auth/activate", {"login": login, "code": code, "password": password})

    def logout(self) -> None:
        """Revoke the token that this client uses."""
        self._post("/api/auth/logout")

    def me(self) -> Me:
        return Me.model_validate(self._get("/api/me"))

    def tokens(self) -> list[Token]:
        return [Token.model_validate(item) for item in self._get("/api/tokens")]

    def create_token(self, note: str) -> TokenSecret:
        return TokenSecret.model_validate(self._post("/api/tokens", {"note": note}))

    def health(self) -> Health:
        return Health.model_validate(self._get("/api/health"))

    def health_parts(self) -> Health:
        return Health.model_validate(self._get("/api/health/parts"))

    def version(self) -> Version:
        return Version.model_validate(self._get("/api/version"))

    # cohorts and people

    def cohorts(self) -> list[Cohort]:
        return [Cohort.model_validate(item) for item in self._get("/api/cohorts")]

    def create_cohort(self, **fields: Any) -> Cohort:
        return Cohort.model_validate(self._post("/api/cohorts", fields))

    def people(self, cohort: str) -> list[Person]:
        """Everybody in the cohort, for its staff."""
        return list(self._all(f"/api/cohorts/{_part(cohort)}/people", Person))

    def add_person(self, cohort: str, **fields: Any) -> PersonAdded:
        return PersonAdded.model_validate(self._post(f"/api/cohorts/{_part(cohort)}/people", fields))

    def preview_roster(self, cohort: str, file: bytes, encoding: str | None, mode: str) -> RosterPreview:
        """How a roster would be read and what it would change."""
        return RosterPreview.model_validate(self._roster(cohort, "preview", file, encoding=encoding, mode=mode))

    def apply_roster(
        self, cohort: str, file: bytes, encoding: str | None, mode: str, fingerprint: str, key: str
    ) -> RosterApplied:
        """Do what the preview with that fingerprint said; with the same `key` again it is done once."""
        found = self._roster(cohort, "apply", file, encoding=encoding, mode=mode, fingerprint=fingerprint, key=key)
        return RosterApplied.model_validate(found)

    def _all(self, path: str, kind: type[Item], **parameters: Any) -> Iterator[Item]:
        after: str | None = None
        while True:
            page = Page[kind].model_validate(self._get(path, after=after, **parameters))  # type: ignore[valid-type]
            yield from page.items
            after = page.next
            if after is None:
                return

    def _roster(self, cohort: str, verb: str, file: bytes, **parameters: Any) -> Any:
        given = {name: value for name, value in parameters.items() if value is not None}
        path = f"/api/cohorts/{_part(cohort)}/roster/{verb}"
        headers = {"Content-Type": "text/csv"}
        return self.transport.request("POST", path, content=file, headers=headers, params=given).json()

    # labs

    def labs(self, cohort: str) -> list[Lab]:
        return [Lab.model_validate(item) for item in self._get(f"/api/cohorts/{_part(cohort)}/labs")]

    def lab(self, cohort: str, lab: str) -> Lab:
        return Lab.model_validate(self._get(_lab(cohort, lab)))

    def publish_lab(
        self, cohort: str, archive: Path, *, due: datetime | None, opens: datetime | None, key: str | None = None
    ) -> Lab:
        """Publish a zipped lab folder."""
        headers = {"Idempotency-Key": key or new_key(), "Content-Type": "application/zip"}
        parameters = {"due": _instant(due), "opens": _instant(opens)}
        given = {name: value for name, value in parameters.items() if value is not None}
        response = self.transport.request(
            "POST",
            f"/api/cohorts/{_part(cohort)}/labs",
            content=lambda: _chunks(archive.open("rb"), None),
            headers={**headers, "Content-Length": str(archive.stat().st_size)},
            params=given,
        )
        return Lab.model_validate(response.json())

    # hand-ins

    def hand_in(
        self,
        cohort: str,
        lab: str,
        archive: Path,
        *,
        filename: str,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> HandedIn:
        """Send an archive; however often the connection breaks it is one submission."""
        headers = {
            "Idempotency-Key": key or new_key(),
            "X-Filename": quote(filename, safe=""),
            "Content-Type": "application/octet-stream",
            "Content-Length": str(archive.stat().st_size),
        }
        response = self.transport.request(
            "POST",
            f"{_lab(cohort, lab)}/submissions",
            content=lambda: _chunks(archive.open("rb"), progress),
            headers=headers,
        )
        return HandedIn.model_validate(response.json())

    def submissions(self, cohort: str, lab: str, *, everybody: bool = False) -> list[Submission]:
        """The caller's hand-ins of a lab, newest first; everybody's for staff."""
        return list(self._all(f"{_lab(cohort, lab)}/submissions", Submission, everybody=everybody))

    def submission(self, submission: str) -> Submission:
        return Submission.model_validate(self._get(f"/api/submissions/{_part(submission)}"))

    def receipt(self, submission: str) -> str:
        """The receipt file, exactly as it is to be saved."""
        return self.transport.request("GET", f"/api/submissions/{_part(submission)}/receipt").text

    def attempt(self, attempt: str) -> Attempt:
        return Attempt.model_validate(self._get(f"/api/attempts/{_part(attempt)}"))

    def feedback(self, attempt: str) -> dict[str, Any]:
        found: dict[str, Any] = self._get(f"/api/attempts/{_part(attempt)}/feedback")
        return found

    def rerun(self, submission: str, key: str | None = None) -> Attempt:
        headers = {"Idempotency-Key": key or new_key()}
        return Attempt.model_validate(self._post(f"/api/submissions/{_part(submission)}/rerun", headers=headers))

    def follow(self, topics: Iterable[str], after: int | None = None) -> Iterator[Event]:
        """Live events, over lost connections; see live.follow."""
        return live.follow(self.transport, topics, after)

    # jobs

    def upload(self, archive: Path, key: str | None = None, progress: Progress | None = None) -> Code:
        """Send the code of a job."""
        headers = {
            "Idempotency-Key": key or new_key(),
            "Content-Type": "application/octet-stream",
            "Content-Length": str(archive.stat().st_size),
        }
        response = self.transport.request(
            "POST", "/api/uploads", content=lambda: _chunks(archive.open("rb"), progress), headers=headers
        )
        return Code.model_validate(response.json())

    def submit(self, job: NewJob, key: str | None = None) -> Job:
        headers = {"Idempotency-Key": key or new_key()}
        return Job.model_validate(self._post("/api/jobs", job.model_dump(), headers=headers))

    def jobs(
        self, *, offset: int = 0, limit: int = 100, everybody: bool = False, state: str | None = None
    ) -> Page[Job]:
        found = self._get("/api/jobs", offset=offset, limit=limit, everybody=everybody or None, state=state)
        return Page[Job].model_validate(found)

    def job(self, job: str) -> Job:
        return Job.model_validate(self._get(f"/api/jobs/{_part(job)}"))

    def cancel(self, job: str) -> Job:
        headers = {"Idempotency-Key": new_key()}  # cancelling twice is cancelling once
        return Job.model_validate(self._post(f"/api/jobs/{_part(job)}/cancel", headers=headers))

    def log(self, job: str, stream: str = "stdout", offset: int = 0) -> JobLog:
        return JobLog.model_validate(self._get(f"/api/jobs/{_part(job)}/logs", stream=stream, offset=offset))

    def log_text(self, job: str, stream: str, *, live_: bool) -> Iterator[str]:
        return live.log_text(self.transport, _part(job), stream, live=live_)

    # boards, grades, budgets

    def board(self, cohort: str, lab: str, limit: int = 100) -> Board:
        return Board.model_validate(self._get(f"{_lab(cohort, lab)}/board", limit=limit))

    def grades(self, cohort: str | None = None) -> list[Grade]:
        """The caller's own grades in every cohort, or everybody's in one of which they are staff."""
        if cohort is None:
            return [Grade.model_validate(item) for item in self._get("/api/grades")]
        return [Grade.model_validate(item) for item in self._get(f"/api/cohorts/{_part(cohort)}/grades")]

    def grades_csv(self, cohort: str) -> bytes:
        return self.transport.request("GET", f"/api/cohorts/{_part(cohort)}/grades.csv").content

    def budgets(self) -> list[Budget]:
        return [Budget.model_validate(item) for item in self._get("/api/budgets")]


def _part(name: str) -> str:
    return quote(name, safe="")


def _lab(cohort: str, lab: str) -> str:
    return f"/api/cohorts/{_part(cohort)}/labs/{_part(lab)}"


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _chunks(file: BinaryIO, progress: Progress | None) -> Iterator[bytes]:
    sent = 0
    with file:
        while chunk := file.read(CHUNK):
            sent += len(chunk)
            yield chunk
            if progress is not None:
                progress(sent)
