"""A lab of tests alone, from hand-in to grade: no training, hints after some tries, faults that are nobody's grade."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.people import Role
from qianka.errors import Forbidden
from qianka.grading.reader import LabError
from qianka.services import attempts, jobs, labs
from qianka.services.platform import Platform
from qianka.store.repos import jobs as job_repo
from qianka.store.tables import Attempt, Cohort, Grade, Job, Lab, Person, Submission
from qianka.testing import (
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
from qianka.testing.labfolders import write_files
from qianka.testing.reports import item, report
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader

TOML = """\
title = "三个函数"

[handin]
required = ["code/solution.py"]

[[check]]
kind = "tests"
weight = 100
public = ["tests/test_public.py"]
hints_after = 2
line = 0.5
"""
FILES = {
    "lab.toml": TOML,
    "README.md": "# 讲义\n",
    "starter/code/solution.py": "raise NotImplementedError\n",
    "tests/test_public.py": "def test_a(): pass\n",
    "tests/test_hidden.py": "def test_secret(): pass  # SECRET\n",
}
HINT = {"zh": "想想空列表。", "en": "Think of an empty list."}
SECRET = item("test_secret", "failed", visible=False, group=("边界", "edges"), message="SECRET", hint=HINT)
PEER = {
    "state": "COMPLETED",
    "reason": None,
    "closed": True,
    "exit_code": 0,
    "signal": None,
    "cpu": 0.5,
    "peak_memory": 1 << 20,
    "output": {"stdout": 0, "stderr": 0},
    "left_after": 0,
}


@dataclass
class Scene:
    platform: Platform
    engine: FakeEngine
    cohort: Cohort
    teacher: Person
    student: Person
    lab: Lab
    folder: Path

    def stage(self, *items: dict[str, Any], **changes: Any) -> None:
        """What the stage `tests` ends with from now on."""
        files = {"tests.json": json.dumps(report(*items)).encode()} if items else {}
        self.engine.programs["tests"] = Program(seconds=2, files=files, result={"peer": PEER}, **changes)

    def hand_in(self) -> Attempt:
        self.platform.clock.sleep(60)
        tree = make_submission(self.platform, self.lab, self.student)
        write_files(self.platform.folders.trees / str(tree.tree_sha256), {"code/solution.py": "x = 1\n"})
        return make_attempt(self.platform, tree, lab_version=self.lab.version)

    def graded(self) -> Attempt:
        """A hand-in, when its attempt has ended."""
        attempt = self.hand_in()
        dispatcher, grader = Dispatcher(self.platform, self.engine), Grader(self.platform)
        end = self.platform.now() + timedelta(seconds=3000)
        while self.platform.now() < end:
            if grader.step() | dispatcher.step():
                continue
            with self.platform.store.reading() as session:
                found = session.get(Attempt, attempt.id)
                assert found is not None
                if found.state not in ("queued", "running"):
                    return found
                busy = job_repo.live(session) or job_repo.pending(session, 1)
            dispatcher.wait(1.0) if busy else self.platform.clock.sleep(1.0)
        raise TimeoutError("the attempt did not end")

    def feedback_of(self, attempt: Attempt) -> dict[str, Any]:
        """As the student gets it."""
        seen = attempts.get(self.platform, caller_of(self.student), attempt.id)
        assert seen.staff_notes is None
        return dict(seen.feedback or {})


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    platform = make_platform(tmp_path / "data")
    engine = FakeEngine(platform.clock, jobs=platform.folders.jobs)
    cohort = make_cohort(platform, "ai")
    teacher = make_person(platform, "teacher")
    enroll(platform, cohort, teacher, Role.TEACHER)
    student = make_student(platform, cohort)
    folder = tmp_path / "lab0"
    write_files(folder, FILES)
    lab = labs.publish(platform, caller_of(teacher), "ai", folder)
    return Scene(platform, engine, cohort, teacher, student, lab, folder)


def test_tests_alone_make_a_grade(scene: Scene) -> None:
    scene.stage(item("test_a"), item("test_secret", visible=False, group=("边界", "edges")))
    done = scene.graded()
    assert (done.verdict, done.points, done.max_points, done.score) == ("accepted", 100, 100, None)
    with scene.platform.store.reading() as session:
        assert session.query(Grade).one().points == 100
        (job,) = session.query(Job).filter(Job.attempt_id == done.id)
    assert (job.name, job.kind, job.charged) == ("tests", "grade", True)
    assert job.spec["peer"]["work"].startswith(str(scene.platform.folders.trees))
    assert job.spec["resources"]["memory"] > job.spec["peer"]["resources"]["memory"]


def test_hints_come_with_the_third_hand_in_and_grading_again_does_not_bring_them_sooner(scene: Scene) -> None:
    scene.stage(item("test_a"), SECRET)
    told = []
    for _ in range(3):
        done = scene.graded()
        text = json.dumps(scene.feedback_of(done), ensure_ascii=False)
        assert "SECRET" not in text
        assert "test_secret" not in text
        told.append("想想空列表" in text)
    assert told == [False, False, True]
    with scene.platform.store.reading() as session:
        first = session.query(Submission).order_by(Submission.submitted_at).first()
    assert first is not None
    again = attempts.rerun(scene.platform, caller_of(scene.teacher), first.id)
    Grader(scene.platform).step()
    dispatcher, grader = Dispatcher(scene.platform, scene.engine), Grader(scene.platform)
    for _ in range(50):
        if not (grader.step() | dispatcher.step()):
            dispatcher.wait(5.0)
    assert "想想空列表" not in json.dumps(scene.feedback_of(again), ensure_ascii=False)


def test_what_is_the_platform_s_fault_uses_no_try_and_brings_no_hint(scene: Scene) -> None:
    scene.stage()  # completed, but no report
    for _ in range(2):
        done = scene.graded()
        assert (done.verdict, done.points) == ("infra_error", None)
    scene.stage(item("test_a"), SECRET)
    done = scene.graded()
    assert (done.verdict, done.points) == ("accepted", 50)
    assert "想想空列表" not in json.dumps(scene.feedback_of(done), ensure_ascii=False)


def test_a_stage_that_failed_is_run_again_and_then_graded(scene: Scene) -> None:
    programs = [
        Program(seconds=1, exit_code=1),
        Program(seconds=1, files={"tests.json": json.dumps(report(item("test_a"))).encode()}, result={"peer": PEER}),
    ]

    scene.engine.programs["tests"] = programs[0]
    attempt = scene.hand_in()
    dispatcher, grader = Dispatcher(scene.platform, scene.engine), Grader(scene.platform)
    for _ in range(2000):
        if grader.step() | dispatcher.step():
            continue
        with scene.platform.store.reading() as session:
            now = session.get(Attempt, attempt.id)
            assert now is not None
            if now.state == "done":
                break
            if now.retries:
                scene.engine.programs["tests"] = programs[1]
            busy = job_repo.live(session) or job_repo.pending(session, 1)
        dispatcher.wait(1.0) if busy else scene.platform.clock.sleep(1.0)
    assert (now.verdict, now.points, now.retries) == ("accepted", 100, 1)


def test_what_the_tests_print_is_for_staff(scene: Scene) -> None:
    scene.stage(item("test_a"))
    done = scene.graded()
    with scene.platform.store.reading() as session:
        (job,) = session.query(Job).filter(Job.attempt_id == done.id)
    for stream in ("stdout", "peer.stdout", "peer.stderr"):
        with pytest.raises(Forbidden):
            jobs.read_log(scene.platform, caller_of(scene.student), job.id, stream)
        jobs.read_log(scene.platform, caller_of(scene.teacher), job.id, stream)


def test_students_take_home_public_tests_and_no_others(scene: Scene, tmp_path: Path) -> None:
    import zipfile

    file = labs.public_version(scene.platform, caller_of(scene.student), "ai", scene.lab.slug)
    home = tmp_path / "home"
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == [
            "README.md",
            "lab.toml",
            "starter/code/solution.py",
            "tests/test_public.py",
        ]
        archive.extractall(home)
    assert labs.check_lab(home, practice=True).ok
    (home / "tests/test_public.py").unlink()
    report = labs.check_lab(home, practice=True)
    assert "hand it in" in report.errors[0].text.en


def test_a_lab_whose_tests_are_missing_or_broken_is_not_published(scene: Scene) -> None:
    (scene.folder / "tests/test_hidden.py").write_text("def test_secret(:\n")
    with pytest.raises(LabError) as caught:
        labs.publish(scene.platform, caller_of(scene.teacher), "ai", scene.folder)
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [("tests/test_hidden.py", 1)]
