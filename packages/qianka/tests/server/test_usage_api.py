"""Use of a job, the week's best, and the machines: who sees what."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from qianka import jobdir
from qianka.domain.resources import Card, Node
from qianka.services import nodes
from qianka.services.jobs.usage import Look, record
from qianka.services.platform import Platform
from qianka.store.tables import Cohort, Job, Ledger, Person, Run
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]
CARD = Card(index=0, uuid="GPU-1", model="made up", memory=80 << 30)


def run_job(platform: Platform, person: Person, cohort: Cohort | None, *, name: str = "mine") -> Job:
    """A job that has run for a minute with the card."""
    job = factories.make_job(platform, person, cohort=cohort, name=name)
    begun = platform.now() - timedelta(minutes=1)
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.state, row.run, row.started_at = "RUNNING", 1, begun
        held = {"cores": [0, 1], "cards": [asdict(CARD)], "started_at": begun}
        session.add(Run(job_id=job.id, number=1, engine="local", node="n1", state="RUNNING", **held))
        record(session, [Look(job=job.id, run=1, at=begun + timedelta(seconds=20), cpu_percent=150.0, memory=1 << 20)])
    return job


def used(platform: Platform, person: Person, cohort: Cohort, *, gpu: float, busy: float | None, cpu: float) -> None:
    """A run that ended now: card seconds, how busy the card was, core seconds of which half were used."""
    job, now = factories.make_job(platform, person, cohort=cohort), platform.now()
    begun = now - timedelta(seconds=10)
    with platform.store.transaction() as session:
        result = {"cpu": cpu / 2}
        session.add(
            Run(job_id=job.id, number=1, engine="local", node="n1", state="DONE", started_at=begun, result=result)
        )
        session.flush()
        spent: dict[str, Any] = {"cpu_seconds": cpu, "gpu_seconds": gpu, "charged": True, "kind": "run"}
        times = {"started_at": begun, "ended_at": now}
        session.add(Ledger(job_id=job.id, run=1, person_id=person.id, cohort_id=cohort.id, **spent, **times))
        if busy is not None:
            record(session, [Look(job=job.id, run=1, at=now, card_percent=busy)])


def test_the_owner_and_staff_see_what_a_job_uses(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    job = run_job(platform, classroom.alice, classroom.cohort)
    for who in (classroom.alice, classroom.teacher):
        (sample,) = in_browser(who).get(f"/api/jobs/{job.id}/usage").json()
        assert (sample["seconds"], sample["cpu_percent"], sample["card_percent"]) == (20.0, 150.0, None)
    assert in_browser(classroom.bob).get(f"/api/jobs/{job.id}/usage").status_code == 404


def test_a_job_has_its_learning_curve(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    job = run_job(platform, classroom.alice, classroom.cohort)
    folder = jobdir.run_dir(jobdir.job_dir(platform.folders.jobs, job.id), 1)
    os.makedirs(folder)
    with open(os.path.join(folder, "metrics.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"step": step, "loss": 1 / (step + 1)}) + "\n" for step in range(3))
    alice = in_browser(classroom.alice)
    assert [line["step"] for line in alice.get(f"/api/jobs/{job.id}/metrics").json()] == [0, 1, 2]
    assert in_browser(classroom.bob).get(f"/api/jobs/{job.id}/metrics").status_code == 404


def test_staff_sees_who_runs_what_but_not_in_other_cohorts(
    platform: Platform, classroom: Any, in_browser: SignIn
) -> None:
    nodes.publish(platform, [Node(name="n1", cores=(0, 1, 2, 3), memory=8 << 30, cards=(CARD,))])
    load = nodes.Load(
        node="n1", at=platform.now(), cpu_percent=40.0, memory_used=1 << 30, memory=8 << 30, cards={"GPU-1": (97.0, 5)}
    )
    nodes.publish_load(platform, load)
    mine = run_job(platform, classroom.alice, classroom.cohort)
    other = factories.make_cohort(platform, "other")
    run_job(platform, factories.make_student(platform, other), other, name="secret of others")
    answer = in_browser(classroom.teacher).get("/api/nodes")
    assert answer.status_code == 200, answer.text
    (node,) = answer.json()["nodes"]
    assert (node["cores"], node["cores_taken"], node["cpu_percent"]) == (4, 2, 40.0)
    assert (node["cards"][0]["percent"], node["cards"][0]["memory_used"]) == (97.0, 5)
    known, hidden = sorted(node["jobs"], key=lambda job: job["id"] is None)
    assert (known["id"], known["person"], known["cohort"]) == (mine.id, classroom.alice.name, "ai-2026")
    assert (hidden["name"], hidden["person"], hidden["cohort"], hidden["cards"]) == (None, None, None, [0])
    assert "secret of others" not in answer.text
    assert in_browser(classroom.teacher).get("/api/nodes/n1").json()["name"] == "n1"
    assert in_browser(classroom.teacher).get("/api/nodes/n2").json()["details"]["reason"] == "no_node"
    assert {part["key"] for part in answer.json()["parts"]} == {"database", "worker", "sandbox", "disk"}
    worker = next(part for part in answer.json()["parts"] if part["key"] == "worker")
    assert not worker["ok"]
    assert in_browser(classroom.alice).get("/api/nodes").status_code == 403


def test_the_weeks_best_computed_most_and_stand_there_by_alias(
    platform: Platform, classroom: Any, in_browser: SignIn
) -> None:
    idle, diligent = classroom.alice, classroom.bob
    used(platform, idle, classroom.cohort, gpu=7200, busy=5.0, cpu=100)
    used(platform, diligent, classroom.cohort, gpu=3600, busy=90.0, cpu=100)
    used(platform, classroom.teacher, classroom.cohort, gpu=99999, busy=100.0, cpu=1)
    answer = in_browser(idle).get("/api/cohorts/ai-2026/top")
    first, second = answer.json()["lines"]
    assert (first["name"], first["mine"], first["gpu_busy"], first["gpu_hours"]) == (diligent.alias, False, 90.0, 1.0)
    assert (second["name"], second["mine"], second["gpu_busy"], second["cpu_busy"]) == (idle.alias, True, 5.0, 50.0)
    assert diligent.name not in answer.text
    stranger = factories.make_person(platform)
    assert in_browser(stranger).get("/api/cohorts/ai-2026/top").status_code == 404


def test_a_list_of_everybodys_jobs_says_whose_each_is(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    mine = run_job(platform, classroom.alice, classroom.cohort)
    params = {"everybody": True, "cohort": classroom.cohort.slug, "fold": True}
    listed = in_browser(classroom.teacher).get("/api/jobs", params=params).json()["items"]
    job = next(one for one in listed if one["id"] == mine.id)
    assert (job["person"], job["mine"]) == (classroom.alice.name, False)
    (own,) = in_browser(classroom.alice).get("/api/jobs").json()["items"]
    assert (own["person"], own["mine"]) == (None, True)
