"""What Slurm prints, read; hostile and unknown words conclude nothing."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
from qianka.domain.jobs import JobState
from qianka.engines.slurm import ends, figures, parse, states, waits
from qianka.engines.slurm.client import Client, refusal
from qianka.engines.slurm.listing import LONGEST_PAUSE, Listing, Silence, pause
from qianka.engines.slurm.models import Line, Machine, Used
from qianka.errors import Refused, Text, Unavailable
from qianka.services.jobs.reasons import REASONS

JOB = {"job": "j-1", "resources": {"cpus": 2.0, "memory": 1 << 30}, "limits": {"wall": 60.0}}
# squeue(1) of Slurm 24.11, JOB STATE CODES.
MANUAL = re.findall(
    r"\w+",
    """BOOT_FAIL CANCELLED COMPLETED CONFIGURING COMPLETING DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PENDING
PREEMPTED RUNNING RESV_DEL_HOLD REQUEUE_FED REQUEUE_HOLD REQUEUED RESIZING REVOKED SIGNALING SPECIAL_EXIT STAGE_OUT
STOPPED SUSPENDED TIMEOUT LAUNCH_FAILED RECONFIG_FAIL""",
)


def line(job: str = "1", state: str = "PENDING", reason: str = "None", **changes: Any) -> Line:
    values: dict[str, Any] = {
        "start": None, "submit": 1.0, "nodes": "", "user": "u", "cpus": 1, "priority": 1, "partition": "main"
    }  # fmt: skip
    return Line(id=job, state=state, reason=reason, **{**values, **changes})


@pytest.mark.parametrize("word", MANUAL)
def test_every_state_of_the_manual_is_known(word: str) -> None:
    assert states.of(word) is not JobState.UNKNOWN


def test_a_state_of_a_later_slurm_concludes_nothing() -> None:
    assert states.of("QUANTUM_HOLD") is JobState.UNKNOWN
    assert not states.of("QUANTUM_HOLD").ended


def test_jobs_and_tasks_of_arrays_are_read_and_odd_lines_passed_over() -> None:
    text = (
        "1|COMPLETED|None|1796097421|1796097420|n1|root|1|100000|main\n"
        "2_3|PENDING|Priority|N/A|1796097421||alice|4|99|gpu\n"
        "2_[4-9%2]|PENDING|Priority|N/A|1796097421||alice|4|99|gpu\n"
        "slurm_load_jobs: warning\n\n7|RUNNING|x\n"
    )
    found = parse.jobs(text)
    assert list(found) == ["1", "2_3"]
    assert (found["1"].start, found["1"].nodes, found["2_3"].start, found["2_3"].cpus) == (1796097421.0, "n1", None, 4)


def test_no_column_is_asked_for_that_users_write() -> None:
    # %j name, %k comment, %o command, %Z folder, %q %a are the site's; JobName, Comment, AdminComment, WorkDir.
    assert not set(re.findall(r"%(\w)", parse.SQUEUE)) & set("jkoZvwxz")
    assert not {"JobName", "Comment", "AdminComment", "WorkDir", "SubmitLine"} & set(parse.SACCT.split(","))


def test_figures_are_those_of_the_job_and_the_largest_step() -> None:
    text = (
        "1|CANCELLED by 1007|0:15|10|20|50|30|01:02.500|4|billing=4,cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=1G||n[1-2]\n"
        "1.batch|CANCELLED|0:15|20|20|51|31|00:00.1|4|cpu=4|51672K|n1\n"
        "1.0|CANCELLED|0:15|20|20|50|30|00:00.1|4|cpu=4|1.5G|n1\n"
    )
    (found,) = parse.used(text).values()
    assert (found.state, found.by, found.signal, found.elapsed, found.cpu) == ("CANCELLED", "1007", 15, 30.0, 62.5)
    assert (found.cpus, found.gpus, found.memory, found.nodes) == (8, 2, int(1.5 * (1 << 30)), "n[1-2]")


def test_a_step_killed_for_its_memory_is_the_jobs_end() -> None:
    text = "1|FAILED|1:0|1|1|2|1|0:01|1|cpu=1||n1\n1.0|OUT_OF_MEMORY|0:125|1|1|2|1|0:01|1|cpu=1|128M|n1\n"
    assert parse.used(text)["1"].state == "OUT_OF_MEMORY"


def test_a_running_jobs_end_is_unknown() -> None:
    found = parse.used("1|RUNNING|0:0|1|1|Unknown|7|00:00:00|1|cpu=1||n1\n")["1"]
    assert (found.end, found.memory) == (None, None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00:01", 1.0), ("01:02.500", 62.5), ("2-03:04:05", 183845.0), ("", None), ("INVALID", None)],
)
def test_times_of_processors(text: str, seconds: float | None) -> None:
    assert parse.seconds(text) == seconds


def test_nodes_and_their_cards() -> None:
    text = "n1|16|64000|gpu:a100:8(S:0-1),shard:4|mixed|\nn1|16|64000|gpu:a100:8|mixed\nn2|4+|32000+|(null)|down*\n"
    text += "n3|8|1|gpu:2,gpu:h100:4|idle\n"
    found = {one.name: one for one in parse.machines(text)}
    assert (found["n1"].gpus, found["n1"].model, found["n1"].memory) == (8, "a100", 64000 << 20)
    assert (found["n2"].gpus, found["n2"].cpus, found["n2"].alive) == (0, 4, False)
    assert (found["n3"].gpus, found["n3"].model, found["n3"].alive) == (6, "h100", True)


@pytest.mark.parametrize("state", ["drained", "draining", "down*", "fail", "unknown*", "inval", "powering_down"])
def test_a_node_that_takes_no_jobs_is_not_alive(state: str) -> None:
    assert not Machine(name="n", cpus=1, memory=1, gpus=0, model="", state=state).alive


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "sbatch: error: If munged is up, restart with --num-threads=10\nsbatch: error: Munge encode failed",
        "",
    ],
)
def test_a_silence_is_no_refusal(said: str) -> None:
    assert isinstance(refusal(said), Unavailable)


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
        "sbatch: error: Batch job submission failed: Invalid qos specification",
        "sbatch: error: Memory specification can not be satisfied\n"
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "sbatch: error: AssocGrpGRESMinutes\nsbatch: error: Batch job submission failed: Job violates "
        "accounting/QOS policy (job submit limit, user's size and/or time limits)",
        "sbatch: error: Batch job submission failed: Invalid user id",
    ],
)
def test_a_refusal_keeps_slurms_own_words(said: str) -> None:
    found = refusal(said)
    assert isinstance(found, Refused)
    assert said.splitlines()[-1].split("failed: ")[1] in found.message.en


def test_a_program_that_is_not_there_is_a_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    client.environment["PATH"] = "/nowhere"
    monkeypatch.setattr(subprocess, "run", subprocess.run)
    with pytest.raises(Unavailable, match="squeue"):
        client.jobs()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_many_polls_are_one_question() -> None:
    clock = Clock()
    listing = Listing(lambda: {"1": line()}, 5.0, clock)
    for _ in range(100):
        listing.jobs()
    assert listing.asked == 1
    clock.now += 5
    listing.jobs()
    assert listing.asked == 2


def test_a_silent_controller_is_asked_more_and_more_rarely() -> None:
    clock, silent = Clock(), True

    def ask() -> dict[str, Line]:
        if silent:
            raise Unavailable(Text("无", "none"))
        return {}

    listing = Listing(ask, 1.0, clock)
    for _ in range(600):
        with pytest.raises(Unavailable):
            listing.jobs()
        clock.now += 1
    assert listing.asked < 20
    silent = False
    clock.now += LONGEST_PAUSE
    assert listing.jobs() == {}
    asked = listing.asked
    clock.now += 1
    listing.jobs()
    assert listing.asked == asked + 1, "after an answer the usual pace"


def test_pauses_double_up_to_a_minute() -> None:
    assert [pause(2.0, n) for n in (1, 2, 3, 9)] == [2.0, 4.0, 8.0, LONGEST_PAUSE]


def test_a_silence_is_remembered_for_all_who_ask() -> None:
    clock, asked = Clock(), []

    def question() -> int:
        asked.append(1)
        raise Unavailable(Text("无", "none"))

    silence = Silence(1.0, clock)
    for _ in range(5):
        with pytest.raises(Unavailable):
            silence.ask(question)
    assert (len(asked), silence.lasts) == (1, True)


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("Resources", "slurm_resources"), ("Priority", "slurm_priority"), ("AssocGrpGRESMinutes", "slurm_budget"),
        ("QOSMaxCpuPerUserLimit", "slurm_limit"), ("AssocMaxJobsLimit", "slurm_limit"), ("None", "slurm_new"),
        ("Dependency", "slurm_dependency"), ("DependencyNeverSatisfied", "slurm_dependency"),
        ("BeginTime", "slurm_begin"), ("JobHeldUser", "slurm_held"), ("JobHeldAdmin", "slurm_held"),
        ("PartitionDown", "slurm_partition"), ("PartitionTimeLimit", "slurm_partition"),
        ("ReqNodeNotAvail, UnavailableNodes:n[1-4]", "slurm_nodes"), ("Licenses", "slurm_licences"),
        ("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions", "slurm_nodes"),
        ("Reservation", "slurm_reservation"), ("SomethingNew", "slurm_waits"),
    ],
)  # fmt: skip
def test_reasons_become_words_of_ours(word: str, code: str) -> None:
    found = waits.reason_of(line(reason=word), {})
    assert (found["code"], found["text"]) == (code, word[:100])
    assert code in REASONS


def test_who_waits_in_front_is_counted_within_the_partition() -> None:
    jobs = {
        "1": line("1", priority=5), "2": line("2", priority=9), "3": line("3", priority=5, submit=0.5),
        "4": line("4", priority=9, partition="gpu"), "5": line("5", "RUNNING", priority=99),
    }  # fmt: skip
    assert waits.ranks(jobs) == {"2": 0, "3": 1, "1": 2, "4": 0}


def result(state: str, code: str | None = None) -> dict[str, Any]:
    return {"state": state, "reason": None if code is None else figures.told(code), "run": 1, "wall": 3.0}


@pytest.mark.parametrize(
    ("word", "found", "asked", "state", "code"),
    [
        ("COMPLETED", result("COMPLETED"), False, "COMPLETED", None),
        ("FAILED", result("TIMEOUT", "timeout_wall"), False, "TIMEOUT", "timeout_wall"),
        ("CANCELLED", result("CANCELLED", "cancelled"), True, "CANCELLED", "cancelled"),
        ("CANCELLED", result("CANCELLED", "cancelled"), False, "CANCELLED", "cancelled_outside"),
        ("PREEMPTED", result("CANCELLED", "cancelled"), False, "PREEMPTED", "preempted"),
        ("PREEMPTED", result("NODE_FAIL", "lost"), False, "PREEMPTED", "preempted"),
        ("PREEMPTED", None, False, "PREEMPTED", "preempted"),
        ("TIMEOUT", None, False, "TIMEOUT", "timeout_wall"),
        ("OUT_OF_MEMORY", None, False, "OUT_OF_MEMORY", "out_of_memory"),
        ("CANCELLED", None, True, "CANCELLED", "cancelled"),
        ("CANCELLED", None, False, "CANCELLED", "cancelled_outside"),
    ],
)
def test_the_end_of_a_supervised_run_is_told_by_supervisor_and_slurm_together(
    word: str, found: dict[str, Any] | None, asked: bool, state: str, code: str | None
) -> None:
    status = ends.supervised(JOB, 1, word, None, found, asked=asked)
    assert status.result is not None
    assert (status.state.value, status.result["state"]) == (state, state)
    assert (status.result["reason"] or {}).get("code") == code


@pytest.mark.parametrize("word", ["FAILED", "COMPLETED", "NODE_FAIL", "BOOT_FAIL"])
def test_an_end_without_a_result_is_the_platforms_fault(word: str) -> None:
    status = ends.supervised(JOB, 1, word, None, None, asked=False)
    assert (status.state, status.result) == (JobState.NODE_FAIL, None)


def test_a_persons_job_is_charged_what_was_allocated() -> None:
    used = Used(id="1", state="COMPLETED", start=10.0, end=40.0, elapsed=30.0, cpus=8, gpus=2, cpu=7.5, memory=5)
    found = ends.direct(JOB, 1, used, asked=False).result
    assert found is not None
    assert (found["cpu_seconds"], found["gpu_seconds"], found["cpu"], found["peak_memory"]) == (240.0, 60.0, 7.5, 5)
    assert found["measured"]["wall"] == "sacct"


@pytest.mark.parametrize("text", ["", "Submitted batch job 12", "12 13", "x;y"])
def test_an_answer_that_is_no_number_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(ValueError, match="sbatch"):
        parse.submitted(text)


def test_the_answer_of_a_federation_names_its_cluster_too() -> None:
    assert parse.submitted("sbatch: note\n12;cluster\n") == "12"
