"""The platform's API as methods: schemas in, schemas out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

from qianka.client import live
from qianka.client.dates import DateCalls
from qianka.client.regrades import RegradeCalls
from qianka.client.transport import Transport
from qianka.schemas.auth import Me, PlatformKey, SignedIn, Token, TokenSecret
from qianka.schemas.base import Answer, Page
from qianka.schemas.boards import Board, Budget, Grade, GradeLine
from qianka.schemas.cohorts import Cohort
from qianka.schemas.events import Event
from qianka.schemas.jobs import Code, Job, JobLog, NewJob
from qianka.schemas.labs import Lab
from qianka.schemas.people import ActivationCode, Person, PersonAdded, RosterApplied, RosterPreview
from qianka.schemas.submissions import Attempt, HandedIn, Submission
from qianka.schemas.system import Health, Version

Item = TypeVar("Item", bound=Answer)
Progress = Callable[[int], None]
"""told the bytes sent so far"""
CHUNK = 256 << 10
LONG = 180.0
"""seconds to wait for an answer that takes work: unpacking, fetching a data set"""


def new_key() -> str:
    """A fresh Idempotency-Key."""
    return uuid.uuid4().hex


class Client:
    """One person at one platform. Every method raises the QiankaError that the server answered with."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.dates = DateCalls(transport)
        self.regrades = RegradeCalls(transport)
        self._get = transport.get
        self._post = transport.post

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.transport.close()

    # who one is

    def login(self, login: str, password: str, note: str = "", method: str = "local") -> SignedIn:
        """Sign in for a bearer token; `method`: local or ldap."""
        body = {"login": login, "password": password, "token": True, "note": note, "method": method}
        return SignedIn.model_validate(self._post("/api/auth/login", body))

    def activate(self, login: str, code: str, password: str) -> None:
        """Choose a password with a one-time code."""
        self._post("/api/auth/activate", {"login": login, "code": code, "password": password})

    def platform_key(self) -> PlatformKey:
        """The public key that receipts of the platform are signed with."""
        return PlatformKey.model_validate(self.transport.get("/api/auth/key"))

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

    def new_code(self, login: str) -> ActivationCode:
        """A new one-time code for somebody."""
        return ActivationCode.model_validate(self._post(f"/api/people/{_part(login)}/code"))

    def preview_roster(self, cohort: str, file: bytes, encoding: str | None, mode: str | None) -> RosterPreview:
        """How a roster would be read and what it would change."""
        return RosterPreview.model_validate(self._roster(cohort, "preview", file, encoding=encoding, mode=mode))

    def apply_roster(
        self, cohort: str, file: bytes, encoding: str | None, mode: str | None, digest: str
    ) -> RosterApplied:
        """Do exactly what the preview with that digest said."""
        found = self._roster(cohort, "apply", file, encoding=encoding, mode=mode, digest=digest)
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

    def public_lab(self, cohort: str, lab: str, target: Path) -> None:
        """Save what students may have of a lab: a zip that `qianka check` grades by."""
        target.write_bytes(self.transport.request("GET", f"{_lab(cohort, lab)}/public.zip", timeout=LONG).content)

    def publish_lab(
        self,
        cohort: str,
        archive: Path,
        *,
        slug: str,
        due: datetime | None = None,
        opens: datetime | None = None,
        practice: bool = False,
    ) -> Lab:
        """Publish a zipped lab folder; the same content again is the same version."""
        parameters = {"slug": slug, "due": _instant(due), "opens": _instant(opens), "practice": practice or None}
        response = self.transport.request(
            "POST",
            f"/api/cohorts/{_part(cohort)}/labs",
            content=lambda: _chunks(archive.open("rb"), None),
            headers=_body_headers(archive, new_key()),
            params={name: value for name, value in parameters.items() if value is not None},
            timeout=LONG,
        )
        return Lab.model_validate(response.json())

    def publish_local_lab(self, cohort: str, folder: Path, **fields: Any) -> Lab:
        """Publish a folder on the server's own disk, for administrators."""
        body = {"path": str(folder.absolute()), **fields}
        return Lab.model_validate(self._post(f"/api/cohorts/{_part(cohort)}/labs/local", body, timeout=LONG))

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
        response = self.transport.request(
            "POST",
            f"{_lab(cohort, lab)}/submissions",
            content=lambda: _chunks(archive.open("rb"), progress),
            headers=_body_headers(archive, key or new_key()) | {"X-Filename": quote(filename, safe="")},
            timeout=LONG,
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

    def rerun(self, submission: str) -> Attempt:
        """Grade it again, for staff."""
        return Attempt.model_validate(self._post(f"/api/submissions/{_part(submission)}/rerun"))

    def follow(self, topics: Iterable[str], after: int | None = None) -> Iterator[Event]:
        """Live events, over lost connections; see live.follow."""
        return live.follow(self.transport, topics, after)

    # jobs

    def upload(self, archive: Path, key: str | None = None, progress: Progress | None = None) -> Code:
        """Send the code of a job."""
        headers = _body_headers(archive, key or new_key())
        response = self.transport.request(
            "POST",
            "/api/uploads",
            content=lambda: _chunks(archive.open("rb"), progress),
            headers=headers,
            timeout=LONG,
        )
        return Code.model_validate(response.json())

    def submit(self, job: NewJob, key: str | None = None) -> Job:
        headers = {"Idempotency-Key": key or new_key()}
        return Job.model_validate(self._post("/api/jobs", job.model_dump(), headers=headers))

    def jobs(self, *, limit: int = 50, after: str | None = None, **filters: Any) -> Page[Job]:
        """A page of jobs, newest first; `filters` as in GET /api/jobs."""
        return Page[Job].model_validate(self._get("/api/jobs", limit=limit, after=after, **filters))

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

    def grades(self) -> list[Grade]:
        """The caller's own grades in every cohort."""
        return [Grade.model_validate(item) for item in self._get("/api/grades")]

    def class_grades(self, cohort: str) -> list[GradeLine]:
        """Everybody's in a cohort, for its staff."""
        return list(self._all(f"/api/cohorts/{_part(cohort)}/grades", GradeLine))

    def grades_csv(self, cohort: str) -> bytes:
        return self.transport.request("GET", f"/api/cohorts/{_part(cohort)}/grades.csv").content

    def grades_xlsx(self, cohort: str) -> bytes:
        """The grades of a cohort as a workbook; for staff."""
        return self.transport.request("GET", f"/api/cohorts/{_part(cohort)}/grades.xlsx").content

    def budgets(self) -> list[Budget]:
        return [Budget.model_validate(item) for item in self._get("/api/budgets")]


def _body_headers(archive: Path, key: str) -> dict[str, str]:
    return {
        "Idempotency-Key": key,
        "Content-Type": "application/octet-stream",
        "Content-Length": str(archive.stat().st_size),
    }


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
