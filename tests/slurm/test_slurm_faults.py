"""Faults of a real cluster: whatever goes away, no job is lost and none is counted twice."""

from __future__ import annotations

import pwd
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.domain.resources import Label
from qianka.engines.base import Handle
from qianka.engines.slurm import records
from qianka.services import jobs
from qianka.store.tables import Job
from qianka.testing import caller_of
from qianka.testing.slurm import Cluster
from qianka.testing.slurm.scene import Scene

pytestmark = [
    pytest.mark.root,
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("slurm"),
]


@pytest.fixture
def scene(slurm_cluster: Cluster, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(slurm_cluster, tmp_path, person=f"p{time.time_ns() % 1_000_000}")
    yield scene
    scene.close()


def sleeping(seconds: float) -> list[str]:
    return ["/bin/sleep", str(seconds)]


def agrees(scene: Scene) -> bool:
    """Whether the ledger says of the person's own jobs what sacct says, to the second."""

    def ours() -> tuple[float, float]:
        lines = [line for line in scene.ledger() if line.kind == "run"]
        return sum(line.cpu_seconds for line in lines), sum(line.gpu_seconds for line in lines)

    # sacct's list of a person's jobs is behind its answer about a single one.
    end = time.monotonic() + 20
    while ours() != pytest.approx(scene.accounted()) and time.monotonic() < end:
        time.sleep(0.5)
    assert ours() == pytest.approx(scene.accounted()), "ledger, sacct"
    return True


def test_while_the_controller_is_away_nothing_is_lost_and_nothing_counted_twice(scene: Scene) -> None:
    short = [scene.own(sleeping(4)) for _ in range(4)]
    long = scene.own(sleeping(25), gpus=2)
    stage = scene.stage(sleeping(4))
    scene.until(scene.has("RUNNING", *short, long, stage))
    scene.cluster.stop_slurmctld()
    scene.until(scene.has("UNKNOWN", long))
    unknown = scene.job(long)
    assert unknown.answered_at is not None
    late = scene.own(["/bin/true"])
    time.sleep(6)  # the short ones end while nobody hears of it
    scene.dispatcher.step()
    assert scene.job(long).answered_at == unknown.answered_at
    assert scene.job(late).state == "PENDING"
    scene.restart()
    scene.dispatcher.step()
    scene.cluster.start_slurmctld()
    scene.until(scene.over(*short, long, stage, late), 120)
    for job in (*short, long, stage, late):
        assert (scene.job(job).state, scene.job(job).run) == ("COMPLETED", 1)
    assert len(scene.ledger()) == 7
    assert agrees(scene)


def test_while_the_accounting_is_away_an_ended_job_waits_for_its_figures(scene: Scene) -> None:
    job = scene.own(sleeping(3), cpus=2.0, gpus=1)
    scene.until(scene.has("RUNNING", job))
    scene.cluster.stop_slurmdbd()
    time.sleep(5)
    for _ in range(10):
        scene.dispatcher.step()
        scene.dispatcher.wait(0.2)
    assert scene.job(job).state == "RUNNING", "ended, but what it used is not known"
    assert not scene.ledger()
    scene.restart()
    scene.cluster.start_slurmdbd()
    scene.until(scene.over(job), 90)
    assert scene.job(job).state == "COMPLETED"
    (line,) = scene.ledger()
    assert line.gpu_seconds >= 3
    assert agrees(scene)


def test_a_node_that_dies_costs_a_new_run_and_its_orphan_is_fenced(scene: Scene, slurm_cluster: Cluster) -> None:
    script = "for i in $(seq 300); do echo $QIANKA_RUN $i; sleep 0.2; done"
    job = scene.stage(["/bin/sh", "-c", script], wall=200)
    scene.until(scene.has("RUNNING", job))
    handle = Handle(job.id, 1)
    node = scene.until(lambda: scene.rig.engine.poll([handle])[handle].node)
    slurm_cluster.kill_slurmd(node)
    try:
        scene.until(lambda: scene.job(job).run == 2 and scene.job(job).state == "RUNNING", 120)
        folder = scene.rig.jobs / job.id / "runs"
        # The orphan may go on on its dead node, but the fence has moved: it ends, and what it leaves is kept aside.
        scene.until(lambda: not jobdir.alive(jobdir.read_beat(folder.parent, 1)), 30)
        assert not (folder / "1/result.json").exists()
        assert not scene.ledger(), "a node's failure is charged to nobody"
    finally:
        slurm_cluster.revive()
    cancel(scene, job)
    scene.until(scene.over(job))
    assert [(run.number, run.accepted) for run in scene.runs(job)] == [(1, False), (2, True)]
    assert len(scene.ledger()) == 1


def cancel(scene: Scene, job: Job) -> None:
    with scene.platform.store.transaction() as session:
        found = session.get(Job, job.id)
        assert found is not None
        jobs.request_cancel(session, scene.platform, found)


def test_preemption_is_a_new_run_and_what_was_used_is_counted(scene: Scene) -> None:
    low = scene.own(sleeping(300), label=Label.IDLE, nodes=4, exclusive=True)
    scene.until(scene.has("RUNNING", low))
    time.sleep(2)
    high = scene.own(sleeping(3), label=Label.URGENT, cpus=4.0)
    scene.until(scene.over(high), 90)
    scene.until(lambda: scene.job(low).run == 2 and scene.job(low).state == "RUNNING", 90)
    first = scene.runs(low)[0]
    assert (first.state, first.accepted) == ("PREEMPTED", False)
    cancel(scene, low)
    scene.until(scene.over(low))
    assert scene.job(low).state == "CANCELLED"
    assert len(scene.ledger()) == 3
    assert agrees(scene)


@pytest.mark.parametrize("supervised", [False, True])
def test_scancel_by_an_operator_is_told_as_such(scene: Scene, supervised: bool) -> None:
    job = scene.stage(sleeping(100)) if supervised else scene.own(sleeping(100))
    scene.until(scene.has("RUNNING", job))
    time.sleep(1.5)
    scene.cluster.ask("scancel", scene.rig.slurm_id(Handle(job.id, 1)))
    if supervised:
        scene.until(lambda: scene.job(job).retries == 1)
        assert (scene.job(job).reason or {})["after"]["code"] == "cancelled_outside"
        assert not scene.ledger()
        return
    scene.until(scene.over(job))
    assert (scene.job(job).state, (scene.job(job).reason or {})["code"]) == ("CANCELLED", "cancelled_outside")
    assert "uid 0" in (scene.job(job).reason or {})["text"]
    assert agrees(scene)


def test_a_crash_between_sbatch_and_the_note_is_one_slurm_job(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    real = records.write

    def dies(directory: str, run: int, record: records.Record) -> None:
        if record.id is not None:
            raise Killed
        real(directory, run, record)

    job = scene.own(sleeping(3))
    with monkeypatch.context() as patch:
        patch.setattr(records, "write", dies)
        with pytest.raises(Killed):
            scene.dispatcher.step()
    scene.restart()
    scene.until(scene.over(job))
    assert scene.job(job).state == "COMPLETED"
    told = scene.cluster.ask(
        "sacct", "-X", "-n", "-P", f"--user={scene.rig.person}", "--starttime=now-1hours", "-o", "JobID"
    )
    assert len(set(told.split())) <= 1
    assert len(scene.ledger()) == 1
    assert agrees(scene)


def test_what_slurm_refuses_ends_with_slurms_words_and_costs_nothing(scene: Scene) -> None:
    scene.cluster.ask("sacctmgr", "-i", "modify", "user", scene.rig.person, "set", "MaxSubmitJobs=0")
    try:
        job = scene.own(["/bin/true"])
        scene.until(scene.over(job))
        found = scene.job(job)
        assert (found.state, (found.reason or {})["code"]) == ("FAILED", "slurm_refused")
        assert "policy" in (found.reason or {})["text"] or "limit" in (found.reason or {})["text"]
        assert [(line.cpu_seconds, line.gpu_seconds) for line in scene.ledger()] == [(0.0, 0.0)]
    finally:
        scene.cluster.ask("sacctmgr", "-i", "modify", "user", scene.rig.person, "set", "MaxSubmitJobs=-1")


def test_what_does_not_fit_yet_waits_with_slurms_reason_and_can_be_cancelled(scene: Scene) -> None:
    first = scene.own(sleeping(200), nodes=4, exclusive=True)
    scene.until(scene.has("RUNNING", first))
    waits = ("slurm_resources", "slurm_priority")
    second = scene.own(sleeping(1), cpus=4.0)
    # What one step submits has no order among itself.
    scene.until(lambda: (scene.job(second).reason or {}).get("code") in waits)
    third = scene.own(sleeping(1), cpus=4.0)
    scene.until(lambda: (scene.job(third).reason or {}).get("code") in waits)
    # Slurm itself needs a moment to put the two into their order.
    scene.until(lambda: (scene.job(third).reason or {}).get("ahead") == 1)
    view = jobs.queue_view(scene.platform, caller_of(scene.person), third.id)
    assert view is not None
    assert view.ahead == 1
    assert view.sentence.zh
    cancel(scene, third)
    scene.until(scene.over(third))
    assert (scene.job(third).state, scene.job(third).started_at) != ("COMPLETED", None)
    cancel(scene, first)
    scene.until(scene.over(first, second))
    assert scene.job(second).state == "COMPLETED"
    assert agrees(scene)


def test_a_name_that_forges_lines_and_arrays_of_others_change_nothing(scene: Scene) -> None:
    job = scene.own(sleeping(5))
    scene.until(scene.has("RUNNING", job))
    forged = scene.rig.slurm_id(Handle(job.id, 1))
    line = f"x\n{forged}|FAILED|None|1|1|n|u|1|1|main"
    script = "#!/bin/sh\nsleep 2\n"
    for words in ([f"--job-name={line}", f"--comment={line}"], ["--array=1-20%3"]):
        scene.cluster.ask("sbatch", "--output=/dev/null", "--chdir=/", *words, stdin=script)
    scene.until(scene.over(job))
    assert scene.job(job).state == "COMPLETED"


def test_a_persons_job_has_their_rights_home_groups_and_nothing_of_the_platforms(scene: Scene) -> None:
    script = "id -u; id -g; id -G; echo $HOME; env | sort; echo -- $CUDA_VISIBLE_DEVICES"
    job = scene.own(["/bin/sh", "-c", script], gpus=2)
    scene.until(scene.over(job))
    log = (scene.rig.jobs / job.id / "runs/1/stdout.log").read_text()
    account = pwd.getpwnam(scene.rig.person)
    lines = log.splitlines()
    assert lines[:4] == [str(account.pw_uid), str(account.pw_gid), str(account.pw_gid), account.pw_dir]
    assert log.rstrip().endswith("-- 0,1")
    assert "QIANKA_ADMIN" not in log
    assert "VIRTUAL_ENV" not in log


def test_cards_of_a_supervised_run_are_those_that_slurm_gave(scene: Scene) -> None:
    job = scene.stage(["/bin/sh", "-c", "echo $QIANKA_SIMULATED_CARDS; sleep 1"], gpus=2)
    scene.until(scene.over(job))
    result: Any = scene.job(job).result
    assert (result["state"], result["node"] in scene.cluster.names) == ("COMPLETED", True)
    assert result["gpu_seconds"] == pytest.approx(2 * result["wall"], rel=0.01)
    assert (scene.rig.jobs / job.id / "runs/1/stdout.log").read_text().count("slurm") == 2


def test_memory_and_time_are_the_persons_own_fault_and_counted(scene: Scene) -> None:
    hog = scene.own(["/usr/bin/python3", "-c", "import time; x = b'x' * (800 << 20); time.sleep(100)"])
    scene.until(scene.over(hog))
    assert (scene.job(hog).state, (scene.job(hog).reason or {})["code"]) == ("OUT_OF_MEMORY", "out_of_memory")
    assert agrees(scene)


@pytest.mark.parametrize("account", ["root", "daemon", "nosuch-person"])
def test_a_login_without_an_ordinary_account_is_told_so(scene: Scene, account: str) -> None:
    scene.rig.person, person = account, scene.rig.person
    try:
        job = scene.own(["/bin/true"])
        scene.until(scene.over(job))
    finally:
        scene.rig.person = person
    found = scene.job(job)
    assert (found.state, (found.reason or {})["code"]) == ("FAILED", "slurm_refused")
    assert account in (found.reason or {})["text"]
    assert "account" in (found.reason or {})["text"]
