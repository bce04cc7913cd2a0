"""Where a hand-in came from, as API and command line tell it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from qianka.cli import common, output
from qianka.cli.main import main
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.domain.jobs import JobKind
from qianka.services import people
from qianka.services.platform import Platform
from qianka.store.tables import Job, JobTrace, Person, TreeFile
from qianka.testing.factories import caller_of, make_job
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]
EVIL = "<script>alert(1)</script>"


def hand_in(client: TestClient, classroom: Any, archive: bytes) -> dict[str, Any]:
    csrf = client.get("/api/me").json()["csrf"]
    headers = {"Idempotency-Key": "k" * 16, "X-Filename": "a.zip", "X-CSRF-Token": csrf}
    answer = client.post(f"{classroom.path}/submissions", content=archive, headers=headers)
    assert answer.status_code == 201
    found: dict[str, Any] = answer.json()["submission"]
    return found


def trained(platform: Platform, person: Person, cohort_id: int, files: list[dict[str, Any]]) -> Job:
    """A job of `person` whose code held `files`, ended and recorded."""
    from qianka.store.tables import Cohort

    with platform.store.reading() as session:
        cohort = session.get(Cohort, cohort_id)
    job = make_job(platform, person, cohort=cohort, kind=JobKind.RUN, name=f"train {EVIL}")
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.state, row.run, row.ended_at = "COMPLETED", 1, platform.now()
        row.queued_at = platform.now().replace(year=2020)
        session.add_all([TreeFile(tree=job.id, path=f["path"], size=f["size"], sha256=f["sha256"]) for f in files])
        session.add(
            JobTrace(
                job_id=job.id,
                tree=job.id,
                seed="7",
                seed_from="arguments",
                figures={"loss": 0.25},
                curve={"name": EVIL, "steps": [1, 2, 3], "values": [1.0, None, 0.25]},
                skipped=[],
                traced_at=platform.now(),
            )
        )
    return job


@pytest.fixture
def long_archive(zip_of: Any) -> bytes:
    code = {"code/train.py": "print('train')\n" * 10, "code/predict.py": "print('predict')\n" * 10}
    found: bytes = zip_of(
        {**code, f"code/{'x' * 3}<b>.py": "print('odd')\n" * 10, "README.md": "# mine, and long enough\n" * 3}
    )
    return found


def test_jobs_seeds_and_curves_are_told(
    platform: Platform, classroom: Any, in_browser: SignIn, long_archive: bytes
) -> None:
    client = in_browser(classroom.alice)
    handed = hand_in(client, classroom, long_archive)
    job = trained(platform, classroom.alice, classroom.cohort.id, [f for f in handed["files"] if ".py" in f["path"]])
    told = client.get(f"/api/submissions/{handed['id']}/provenance").json()
    assert [one["id"] for one in told["jobs"]] == [job.id]
    assert [one["seed"] for one in told["jobs"]] == ["7"]
    assert told["jobs"][0]["curve"]["steps"] == [1, 2, 3]
    assert [file["path"] for file in told["untraced"]] == ["README.md"]


def test_another_student_learns_nothing_and_staff_sees_the_flag(
    platform: Platform, classroom: Any, in_browser: SignIn, long_archive: bytes
) -> None:
    bob = in_browser(classroom.bob)
    handed = hand_in(bob, classroom, long_archive)
    job = trained(platform, classroom.alice, classroom.cohort.id, [f for f in handed["files"] if ".py" in f["path"]])
    path = f"/api/submissions/{handed['id']}/provenance"
    assert job.id not in bob.get(path).text
    assert "alice" not in bob.get(path).text
    told = in_browser(classroom.teacher).get(path).json()
    assert {flag["job"] for flag in told["flags"]} == {job.id}
    assert {flag["login"] for flag in told["flags"]} == {"alice"}
    assert in_browser(classroom.alice).get(path).status_code == 404


def test_the_command_line_tells_the_same(
    platform: Platform,
    classroom: Any,
    app: Any,
    in_browser: SignIn,
    long_archive: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    handed = hand_in(in_browser(classroom.alice), classroom, long_archive)
    job = trained(platform, classroom.alice, classroom.cohort.id, [f for f in handed["files"] if ".py" in f["path"]])
    secret = people.issue_token(platform, caller_of(classroom.alice), "test").secret
    served = TestClient(app, base_url="http://localhost")
    monkeypatch.setattr(output.mode, "language", "en")
    monkeypatch.setattr(
        common, "client", lambda: Client(Transport("http://localhost", secret, "en", transport=served._transport))
    )
    assert main(["submission", "provenance", handed["id"]]) == 0
    said = capsys.readouterr().out
    assert "trained here: 1 run" in said
    assert job.id in said
    assert "loss 0.25" in said
    assert "README.md" in said
    assert main(["submission", "provenance", handed["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"][0]["counts"] is True
