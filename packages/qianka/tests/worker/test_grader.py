"""The grader with the dispatcher on the fake engine: from hand-in to grade, through faults and restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.people import Role
from qianka.services import attempts, labs, versions
from qianka.services.platform import Platform
from qianka.store.repos import jobs as job_repo
from qianka.store.tables import Attempt, Audit, Cohort, Event, Grade, Job, Lab, Ledger, Person, Submission
from qianka.testing import (
    FakeClock,
    FakeEngine,
    Program,
    caller_of,
    enroll,
    make_attempt,
    make_cohort,
    make_person,
    make_platform,
    make_student,
    make_submission,
)
from qianka.testing.labfolders import (
    LAB_TOML,
    SOLUTION,
    figures,
    make_lab_folder,
    script_good_stages,
    style_figures,
    write_files,
)
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader


@dataclass
class Scene:
    """A published lab, a class, an engine whose programs a test scripts."""

    platform: Platform
    engine: FakeEngine
    cohort: Cohort
    teacher: Person
    student: Person
    lab: Lab

    def hand_in(self, person: Person | None = None, files: dict[str, str] | None = None) -> Attempt:
        """An accepted hand-in of `person` with its queued attempt."""
        person = person or self.student
        tree = make_submission(self.platform, self.lab, person)
        write_files(self.platform.folders.trees / str(tree.tree_sha256), files or SOLUTION)
        return make_attempt(self.platform, tree, lab_version=self.lab.version)

    def run(self, seconds: float = 3000.0, grader: Grader | None = None) -> None:
        """Let worker and engine work until nothing is left to do."""
        dispatcher, grader = Dispatcher(self.platform, self.engine), grader or Grader(self.platform)
        end = self.platform.now() + timedelta(seconds=seconds)
        while self.platform.now() < end:
            if grader.step() | dispatcher.step():
                continue
            with self.platform.store.reading() as session:
                busy = job_repo.live(session) or job_repo.pending(session, 1)
                waiting = session.query(Attempt).filter(Attempt.state.in_(("queued", "running"))).count()
            if not busy and not waiting:
                return
            dispatcher.wait(1.0) if busy else self.platform.clock.sleep(1.0)

    def read(self, attempt: Attempt) -> Attempt:
        with self.platform.store.reading() as session:
            return session.query(Attempt).filter_by(id=attempt.id).one()

    def rows(self, table: Any) -> list[Any]:
        with self.platform.store.reading() as session:
            return list(session.query(table).order_by(table.id))

    def charged(self, attempt: Attempt) -> bool:
        with self.platform.store.reading() as session:
            submission = session.get(Submission, attempt.submission_id)
            assert submission is not None
            return submission.charged


Publish = Callable[..., Scene]


@pytest.fixture
def publish(tmp_path: Path) -> Iterator[Publish]:
    """Publishes a small lab and makes the scene around it."""
    platform = make_platform(tmp_path / "data")

    def make(lab_toml: str = LAB_TOML) -> Scene:
        engine = FakeEngine(platform.clock, jobs=platform.folders.jobs)
        script_good_stages(engine)
        cohort = make_cohort(platform, "ai")
        teacher = make_person(platform, "teacher")
        enroll(platform, cohort, teacher, Role.TEACHER)
        student = make_student(platform, cohort)
        folder = make_lab_folder(tmp_path / "small", lab_toml)
        lab = labs.publish(platform, caller_of(teacher), "ai", folder)
        return Scene(platform, engine, cohort, teacher, student, lab)

    yield make
    platform.store.close()


@pytest.fixture
def scene(publish: Publish) -> Scene:
    return publish()


def test_a_good_hand_in_becomes_a_grade(scene: Scene) -> None:
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert (done.state, done.verdict, done.points, done.max_points, done.score) == ("done", "accepted", 100, 100, 0.95)
    assert done.isolation == "full"
    assert done.started_at is not None
    assert done.ended_at is not None
    (grade,) = scene.rows(Grade)
    assert (grade.attempt_id, grade.points) == (attempt.id, 100)
    assert scene.charged(attempt)
    events = [e for e in scene.rows(Event) if e.topic == f"attempt:{attempt.id}"]
    assert [e.kind for e in events[-2:]] == ["verdict", "grade"]
    assert events[-2].payload["verdict"] == "accepted"
    stages = [(e.payload["state"], e.payload["stage"]) for e in events if e.kind == "stage"]
    assert stages[:4] == [("queued", "train"), ("running", "train"), ("running", "predict"), ("running", "judge")]
    assert [a.action for a in scene.rows(Audit)][-1] == "attempt.verdict"


def test_only_training_and_predicting_of_a_student_are_charged(scene: Scene) -> None:
    scene.hand_in()
    scene.run()
    with scene.platform.store.reading() as session:
        charged = {job.name for job in session.query(Job).join(Ledger, Ledger.job_id == Job.id).filter(Ledger.charged)}
        people = {job.person_id for job in session.query(Job).filter(Job.name == "reference-train")}
    assert charged == {"train", "predict"}
    assert people == {scene.teacher.id}


def test_student_code_and_answers_never_meet(scene: Scene) -> None:
    attempt = scene.hand_in()
    scene.run()
    with scene.platform.store.reading() as session:
        jobs = session.query(Job).filter_by(attempt_id=attempt.id).all()
    for job in jobs:
        sources = [mount["source"] for mount in job.spec["mounts"]]
        sees_answers = any(source.endswith("/made/answers") for source in sources)
        assert sees_answers == (job.name == "judge")
        assert (job.spec["work"] is None) == (job.name == "judge")
        assert not any("secret" in source for source in sources)
        assert all(not mount["writable"] for mount in job.spec["mounts"])
        assert job.spec["network"] == "none"


def test_a_crash_is_told_with_type_and_line_and_predict_never_starts(scene: Scene) -> None:
    stderr = (
        "Traceback (most recent call last):\n"
        '  File "/work/code/train.py", line 12, in <module>\n    net(x)\n'
        '  File "/usr/lib/python3/torch/nn.py", line 999, in forward\n'
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 100x10)\n"
    )
    scene.engine.programs["train"] = Program(seconds=3, exit_code=1, stderr=stderr)
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert (done.verdict, done.points) == ("crashed", 0)
    assert done.feedback is not None
    assert (done.feedback["exception"], done.feedback["file"], done.feedback["line"]) == (
        "RuntimeError",
        "code/train.py",
        12,
    )
    assert "x.shape" in done.feedback["advice"]["en"]
    assert "predict" not in [job.name for job in scene.rows(Job)]
    assert scene.charged(attempt)


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        (Program(seconds=math.inf), "timeout"),
        (Program(memory=1 << 40), "out_of_memory"),
        (Program(exit_code=1, result={"reason": {"code": "output_limit"}}), "output_limit"),
        (Program(exit_code=1, result={"reason": {"code": "disk_full"}}), "disk_full"),
        (Program(exit_code=1, result={"reason": {"code": "process_limit"}}), "process_limit"),
        (Program(exit_code=1, stderr="Traceback (most recent call last):\nModuleNotFoundError: x\n"), "import_error"),
    ],
)
def test_every_way_to_fail_has_its_verdict(scene: Scene, program: Program, verdict: str) -> None:
    scene.engine.programs["train"] = program
    attempt = scene.hand_in()
    scene.run()
    assert scene.read(attempt).verdict == verdict


@pytest.mark.parametrize(
    "left",
    [
        {},
        {"figures.json": b"not json"},
        {"figures.json": figures(float("nan"))},
        {"figures.json": figures(-5)},
        {"figures.json": figures(1e9)},
        {"figures.json": figures().replace(b"0.95", b'"abc"')},
        {"figures.json": b'{"ok": true, "rows": 2, "scores": {}}'},
        {"figures.json": b'{"score": 100}'},
        {"figures.json": b" " * (2 << 20)},
    ],
)
def test_a_scorer_that_fails_is_never_a_grade(scene: Scene, left: dict[str, bytes]) -> None:
    """C13: retried with back-off, then infra_error: no points, no try, staff can see why."""
    scene.engine.programs["judge"] = Program(files=left)
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert (done.verdict, done.points, done.score) == ("infra_error", None, None)
    assert done.retries == scene.platform.settings.queue_max_retry
    assert not scene.charged(attempt)
    assert scene.rows(Grade) == []
    assert done.staff_notes is not None
    assert done.staff_notes["fault"]
    assert [a.action for a in scene.rows(Audit)].count("attempt.retry") == 3


def test_a_scorer_that_recovers_costs_nothing(scene: Scene) -> None:
    scene.engine.programs["judge"] = Program(exit_code=1, stderr="Traceback ...")
    attempt = scene.hand_in()
    scene.run(seconds=17)
    assert scene.read(attempt).retries >= 1
    script_good_stages(scene.engine)
    scene.run()
    done = scene.read(attempt)
    assert (done.verdict, done.points) == ("accepted", 100)
    assert [job.name for job in scene.rows(Job)].count("train") == 1


def test_a_node_that_dies_is_not_the_students_fault(scene: Scene) -> None:
    scene.engine.programs["train"] = Program(result={"state": "NODE_FAIL", "reason": {"code": "sandbox"}})
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert (done.verdict, done.points) == ("infra_error", None)
    assert not scene.charged(attempt)


def test_bad_predictions_are_refused_at_no_cost_and_the_best_stays(scene: Scene) -> None:
    first = scene.hand_in()
    scene.run()
    problem = {"code": "not_finite", "count": 7, "first": [{"line": 2, "id": "0", "value": "NaN<script>"}]}
    left = {"figures.json": figures(ok=False, problems=[problem])}
    scene.engine.programs["judge"] = Program(files=left)
    second = scene.hand_in()
    scene.run()
    done = scene.read(second)
    assert (done.verdict, done.score) == ("bad_predictions", None)
    assert not scene.charged(second)
    assert done.feedback is not None
    assert done.feedback["problems"][0]["first"] == [{"line": 2, "id": "0"}]
    assert "NaN<script>" not in str(done.feedback)
    assert done.staff_notes is not None
    assert "NaN<script>" in str(done.staff_notes)
    (grade,) = scene.rows(Grade)
    assert grade.attempt_id == first.id


def test_no_predictions(scene: Scene) -> None:
    problem = {"code": "missing_file", "count": 1, "first": []}
    scene.engine.programs["judge"] = Program(files={"figures.json": figures(ok=False, problems=[problem])})
    attempt = scene.hand_in()
    scene.run()
    assert scene.read(attempt).verdict == "no_predictions"


def test_source_that_python_cannot_read_is_found_before_anything_runs(scene: Scene) -> None:
    """C09: named file and line, and how to convert."""
    attempt = scene.hand_in()
    tree = scene.platform.folders.trees / str(scene.rows(Submission)[-1].tree_sha256)
    (tree / "code" / "train.py").write_bytes("import sys\n# 训练\n".encode("gbk"))
    scene.run()
    done = scene.read(attempt)
    assert done.verdict == "bad_encoding"
    assert done.feedback is not None
    assert "code/train.py 第 2 行" in done.feedback["encoding"][0]["zh"]
    assert scene.rows(Job) == []


def test_near_a_band_edge_the_time_is_the_median_of_three_runs(scene: Scene) -> None:
    scene.engine.programs["train"] = Program(seconds=15.5)
    scene.engine.programs["train#2"] = Program(seconds=14)
    scene.engine.programs["train#3"] = Program(seconds=13.5)
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert done.points == 100
    assert done.feedback is not None
    check = next(c for c in done.feedback["checks"] if c["kind"] == "time")
    assert sorted(check["facts"]["seconds"]) == [13.5, 14, 15.5]
    with scene.platform.store.reading() as session:
        repeats = session.query(Job).filter(Job.name.in_(("train#2", "train#3"))).all()
        assert [job.charged for job in repeats] == [False, False]


def test_far_from_an_edge_one_run_is_enough(scene: Scene) -> None:
    scene.engine.programs["train"] = Program(seconds=22)
    attempt = scene.hand_in()
    scene.run()
    done = scene.read(attempt)
    assert done.points == 60 + 15 * 0.6 + 10 + 15
    assert "train#2" not in [job.name for job in scene.rows(Job)]


def test_the_reference_is_timed_once_for_a_whole_class(scene: Scene) -> None:
    people = [make_student(scene.platform, scene.cohort) for _ in range(4)]
    made = [scene.hand_in(person) for person in people]
    scene.run()
    assert {scene.read(attempt).verdict for attempt in made} == {"accepted"}
    assert [job.name for job in scene.rows(Job)].count("reference-train") == 3


def test_a_reference_that_fails_holds_back_nobody_who_fails_by_themselves(scene: Scene) -> None:
    scene.engine.programs["reference-train"] = Program(exit_code=1)
    good = scene.hand_in()
    scene.run()
    assert scene.read(good).verdict == "infra_error"
    scene.engine.programs["judge"] = Program(files={"figures.json": figures(0.1)})
    bad = scene.hand_in()
    scene.run()
    assert scene.read(bad).verdict == "below_line"
    script_good_stages(scene.engine)
    folder = scene.platform.folders.labs / "ai" / "small" / scene.lab.version
    labs.publish(scene.platform, caller_of(scene.teacher), "ai", folder, slug="small")
    again = attempts.rerun(scene.platform, caller_of(scene.teacher), good.submission_id)
    scene.run()
    assert scene.read(again).verdict == "accepted"


def test_a_restart_at_any_moment_changes_nothing(scene: Scene) -> None:
    """A grader that remembers nothing between two steps comes to the same end, with one job a stage."""
    attempt = scene.hand_in()
    dispatcher = Dispatcher(scene.platform, scene.engine)
    for _ in range(400):
        if scene.read(attempt).state == "done":
            break
        Grader(scene.platform).step()
        attempts.advance(scene.platform, attempt.id)
        if not Dispatcher(scene.platform, scene.engine.restarted()).step():
            dispatcher.wait(1.0)
    assert scene.read(attempt).verdict == "accepted"
    names = [job.name for job in scene.rows(Job) if job.attempt_id == attempt.id]
    assert sorted(names) == ["judge", "predict", "style", "train"]
    verdicts = [e for e in scene.rows(Event) if e.kind == "verdict"]
    assert len(verdicts) == 1


def test_a_cancelled_attempt_takes_its_jobs_along(scene: Scene) -> None:
    scene.engine.programs["train"] = Program(seconds=math.inf)
    attempt = scene.hand_in()
    grader = Grader(scene.platform)
    grader.step()
    with scene.platform.store.transaction() as session:
        row = session.get(Attempt, attempt.id)
        assert row is not None
        row.state = "cancelled"
    grader.step()
    assert [job.state for job in scene.rows(Job)] == ["CANCELLED"]
    assert not grader.step()


def test_a_job_cancelled_by_staff_cancels_the_attempt(scene: Scene) -> None:
    from qianka.services import jobs

    attempt = scene.hand_in()
    Grader(scene.platform).step()
    jobs.cancel(scene.platform, caller_of(scene.teacher), scene.rows(Job)[0].id)
    scene.run()
    done = scene.read(attempt)
    assert (done.state, done.verdict, done.points) == ("cancelled", "cancelled", None)
    assert not scene.charged(attempt)


def test_one_broken_lab_does_not_stop_the_others(scene: Scene, tmp_path: Path) -> None:
    broken = scene.hand_in()
    folder = make_lab_folder(tmp_path / "other")
    (folder / "README.md").write_text("another\n")
    other = labs.publish(scene.platform, caller_of(scene.teacher), "ai", folder)
    (scene.platform.folders.labs / "ai" / "small" / scene.lab.version / "lab.toml").unlink()
    versions._load.cache_clear()
    scene.lab = other
    good = scene.hand_in(make_student(scene.platform, scene.cohort))
    scene.run()
    assert scene.read(broken).verdict == "infra_error"
    assert scene.read(good).verdict == "accepted"


def test_tricks_score_nothing_and_are_flagged(scene: Scene) -> None:
    """C12: what is printed or written beside the predictions has no effect."""
    code = {**SOLUTION, "code/train.py": "import atexit\nimport gc\n\ngc.get_objects()\nprint({'score': 100})\n"}
    scene.engine.programs["train"] = Program(seconds=10, stdout='{"score": 100}\n', files={"results.json": b"{}"})
    scene.engine.programs["judge"] = Program(files={"figures.json": figures(0.1)})
    scene.engine.programs["style"] = Program(files={"style.json": style_figures(configs=[".flake8"], noqa=3)})
    attempt = scene.hand_in(files=code)
    scene.run()
    done = scene.read(attempt)
    assert (done.verdict, done.points) == ("below_line", 15)
    assert done.staff_notes is not None
    found = {flag["code"] for flag in done.staff_notes["flags"]}
    assert {"at_exit", "inspects", "printed_score", "wrote_result", "own_config", "noqa"} <= found
    assert "flags" not in str(done.feedback)


def test_the_last_hand_in_counts_where_the_lab_says_so(publish: Publish) -> None:
    scene = publish(LAB_TOML.replace("title_en", 'grade = "last"\ntitle_en'))
    scene.hand_in()
    scene.run()
    scene.engine.programs["judge"] = Program(files={"figures.json": figures(0.85)})
    scene.platform.clock.sleep(60)
    second = scene.hand_in()
    scene.run()
    (grade,) = scene.rows(Grade)
    assert grade.attempt_id == second.id


def test_waiting_costs_no_writes(scene: Scene) -> None:
    scene.engine.programs["train"] = Program(seconds=math.inf)
    scene.hand_in()
    grader, dispatcher = Grader(scene.platform), Dispatcher(scene.platform, scene.engine)
    for _ in range(6):
        grader.step()
        dispatcher.step()
    before = scene.rows(Event)[-1].id
    assert not any(grader.step() for _ in range(5))
    assert scene.rows(Event)[-1].id == before
    assert isinstance(scene.platform.clock, FakeClock)
