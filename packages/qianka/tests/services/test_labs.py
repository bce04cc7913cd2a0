"""Labs: checked, published as immutable versions, prepared for each cohort, handed to students without secrets."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from qianka.domain.people import Role
from qianka.errors import BadInput, Conflict, Forbidden, NotFound, PlatformFault, Unavailable
from qianka.grading.reader import LabError
from qianka.services import labs
from qianka.services.labs import data
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Job
from qianka.testing import (
    FakeClock,
    FakeEngine,
    Program,
    caller_of,
    enroll,
    make_cohort,
    make_person,
    make_platform,
    make_student,
)
from qianka.testing.labfolders import LAB_TOML, make_lab_folder, write_files
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader

PREPARED = LAB_TOML + '\n[data]\nprepare = "data/prepare.py"\ncache = ["digits"]\n'
MADE = {
    "train/train.csv": b"x,label\n",
    "test/test.csv": b"id,x\n",
    "answers/answers.csv": b"id,label\n0,1\n",
    "public/test/test.csv": b"id,x\n",
    "public/answers.csv": b"id,label\n0,1\n",
}


@dataclass
class Scene:
    platform: Platform
    engine: FakeEngine
    cohort: Cohort
    teacher: Caller
    student: Caller
    folder: Path

    def work(self) -> None:
        """Let the worker come to rest."""
        grader, dispatcher = Grader(self.platform), Dispatcher(self.platform, self.engine)
        for _ in range(200):
            if not (grader.step() | dispatcher.step()):
                dispatcher.wait(10.0)

    def jobs(self) -> list[Job]:
        with self.platform.store.reading() as session:
            return session.query(Job).order_by(Job.id).all()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    platform = make_platform(tmp_path / "data")
    cohort = make_cohort(platform, "ai")
    teacher = make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    student = make_student(platform, cohort)
    engine = FakeEngine(platform.clock, jobs=platform.folders.jobs)
    folder = make_lab_folder(tmp_path / "lab9")
    yield Scene(platform, engine, cohort, caller_of(teacher), caller_of(student), folder)
    platform.store.close()


def with_prepare(scene: Scene) -> None:
    """Make the lab one whose data a script makes."""
    for path in sorted((scene.folder / "data").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    write_files(scene.folder, {"lab.toml": PREPARED, "data/prepare.py": "print('made')\n"})
    (scene.platform.folders.cache / "digits").mkdir()


def test_a_good_folder_has_no_errors(scene: Scene) -> None:
    report = labs.check_lab(scene.folder)
    assert report.ok
    assert report.as_json()["title"] == {"zh": "小实验", "en": "A small lab"}


@pytest.mark.parametrize(
    ("gone", "file", "says"),
    [
        ("solution/code/train.py", "lab.toml", "reference solution lacks code/train.py"),
        ("data/answers/answers.csv", "data/answers/answers.csv", "is not there"),
    ],
)
def test_files_that_are_named_must_be_there(scene: Scene, gone: str, file: str, says: str) -> None:
    (scene.folder / gone).unlink()
    (problem,) = labs.check_lab(scene.folder).errors
    assert problem.file == file
    assert says in problem.text.en


def test_a_missing_script_names_the_line_of_its_key(scene: Scene) -> None:
    with_prepare(scene)
    (scene.folder / "data" / "prepare.py").unlink()
    (problem,) = labs.check_lab(scene.folder).errors
    assert PREPARED.splitlines()[problem.line - 1].startswith("prepare =")


def test_links_are_refused_and_missing_handouts_warned_of(scene: Scene) -> None:
    (scene.folder / "README.md").unlink()
    (scene.folder / "starter" / "link").symlink_to("/etc/passwd")
    report = labs.check_lab(scene.folder)
    assert [problem.file for problem in report.errors] == ["starter/link"]
    assert "handout" in report.warnings[0].text.en


def test_a_broken_lab_toml_is_a_report_not_a_crash(scene: Scene) -> None:
    (scene.folder / "lab.toml").write_text("= = =")
    report = labs.check_lab(scene.folder)
    assert not report.ok
    assert report.lab is None
    with pytest.raises(LabError):
        labs.publish(scene.platform, scene.teacher, "ai", scene.folder)


def test_publishing_the_same_again_is_the_same_version(scene: Scene) -> None:
    first = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    again = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    assert (first.id, first.version) == (again.id, again.version)
    (scene.folder / "README.md").write_text("# 改过\n")
    changed = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    assert changed.id == first.id
    assert changed.version != first.version
    assert labs.version_folder(scene.platform, "ai", "lab9", first.version).source.is_dir()


def test_samples_and_litter_are_not_published(scene: Scene) -> None:
    litter = {"samples/solution/code/train.py": "x", "__pycache__/a.pyc": "x", ".git/config": "x", ".DS_Store": "x"}
    before = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    write_files(scene.folder, litter)
    after = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    assert after.version == before.version
    source = labs.version_folder(scene.platform, "ai", "lab9", after.version).source
    assert {path.name for path in source.iterdir()} == {"lab.toml", "README.md", "starter", "data", "solution"}


def test_only_teachers_publish(scene: Scene) -> None:
    with pytest.raises(Forbidden):
        labs.publish(scene.platform, scene.student, "ai", scene.folder)
    with pytest.raises(NotFound):
        labs.publish(scene.platform, scene.teacher, "other", scene.folder)
    with pytest.raises(BadInput):
        labs.publish(scene.platform, scene.teacher, "ai", scene.folder, slug="../../etc")


def test_the_platform_itself_publishes_in_the_teachers_name(scene: Scene) -> None:
    lab = labs.publish(scene.platform, Caller.system(), "ai", scene.folder)
    assert lab.published_by == scene.teacher.person_id
    make_cohort(scene.platform, "nobody")
    with pytest.raises(Conflict):
        labs.publish(scene.platform, Caller.system(), "nobody", scene.folder)


def test_dates_stay_unless_they_are_given(scene: Scene) -> None:
    due = scene.platform.now() + timedelta(days=7)
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder, due=due)
    assert labs.publish(scene.platform, scene.teacher, "ai", scene.folder).due_at == due
    assert labs.change_dates(scene.platform, scene.teacher, "ai", "lab9", None, None).due_at is None
    with pytest.raises(BadInput, match="open only after"):
        labs.change_dates(scene.platform, scene.teacher, "ai", "lab9", due, due)
    with pytest.raises(Forbidden):
        labs.change_dates(scene.platform, scene.student, "ai", "lab9", due, None)


def test_a_lab_that_has_not_opened_is_not_there_for_students(scene: Scene) -> None:
    opens = scene.platform.now() + timedelta(days=1)
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder, opens=opens)
    assert labs.list_labs(scene.platform, scene.student, "ai") == []
    for look in (labs.get, labs.public_version):
        with pytest.raises(NotFound):
            look(scene.platform, scene.student, "ai", "lab9")
    assert labs.get(scene.platform, scene.teacher, "ai", "lab9").slug == "lab9"
    assert isinstance(scene.platform.clock, FakeClock)
    scene.platform.clock.advance(86400)
    assert labs.get(scene.platform, scene.student, "ai", "lab9").slug == "lab9"


def test_students_get_everything_but_the_secrets(scene: Scene) -> None:
    """No solution, no hidden inputs, no hidden answers; the public test takes their place."""
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    path = labs.public_version(scene.platform, scene.student, "ai", "lab9")
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        hidden = (scene.folder / "data" / "answers" / "answers.csv").read_bytes()
        assert archive.read("data/answers/answers.csv") != hidden
        assert archive.read("data/test/test.csv") == (scene.folder / "data/public/test/test.csv").read_bytes()
    assert names == {
        "lab.toml",
        "README.md",
        "starter/code/train.py",
        "data/train/train.csv",
        "data/test/test.csv",
        "data/answers/answers.csv",
    }


def test_what_students_get_can_be_published_for_practice(scene: Scene, tmp_path: Path) -> None:
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    with zipfile.ZipFile(labs.public_version(scene.platform, scene.student, "ai", "lab9")) as archive:
        archive.extractall(tmp_path / "practice")
    assert not labs.check_lab(tmp_path / "practice").ok
    lab = labs.publish(scene.platform, scene.teacher, "ai", tmp_path / "practice", practice=True)
    assert lab.slug == "practice"
    assert labs.readiness(scene.platform, scene.teacher, "ai", "practice")["prepared"]


def test_data_is_made_by_a_contained_job_before_anything_is_graded(scene: Scene) -> None:
    with_prepare(scene)
    scene.engine.programs["prepare"] = Program(files=MADE)
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    with pytest.raises(Unavailable):
        labs.public_version(scene.platform, scene.student, "ai", "lab9")
    (job,) = scene.jobs()
    mounts = {mount["target"]: mount for mount in job.spec["mounts"]}
    assert set(mounts) == {"/lab", "/secret", "/cache/digits"}
    assert not any(mount["writable"] for mount in mounts.values())
    assert (job.kind, job.charged, job.spec["network"]) == ("reference", False, "none")
    seed = (Path(mounts["/secret"]["source"]) / "seed").read_text().strip()
    assert seed not in str(job.spec)
    assert len(bytes.fromhex(seed)) == 32
    scene.work()
    assert labs.readiness(scene.platform, scene.teacher, "ai", "lab9")["prepared"]
    assert labs.public_version(scene.platform, scene.student, "ai", "lab9").is_file()


def test_every_cohort_has_a_seed_of_its_own_that_stays(scene: Scene) -> None:
    enroll(scene.platform, other := make_cohort(scene.platform, "ai2"), make_person(scene.platform), Role.TEACHER)
    seeds = []
    for cohort in (scene.cohort, other, scene.cohort):
        lab = labs.publish(scene.platform, Caller.system(), cohort.slug, scene.folder)
        folder = labs.version_folder(scene.platform, cohort.slug, "lab9", lab.version)
        seeds.append((folder.secret / "seed").read_text())
    assert seeds[0] == seeds[2] != seeds[1]


@pytest.mark.parametrize("lacks", ["train/train.csv", "test/test.csv", "answers/answers.csv"])
def test_data_that_is_incomplete_is_not_taken(scene: Scene, lacks: str) -> None:
    with_prepare(scene)
    made = {name: content for name, content in MADE.items() if name != lacks}
    scene.engine.programs["prepare"] = Program(files=made)
    lab = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    scene.work()
    assert data.advance(scene.platform, scene.cohort, lab, lab.version) == "failed"
    assert not labs.readiness(scene.platform, scene.teacher, "ai", "lab9")["prepared"]


def test_publishing_again_tries_again_after_a_failure(scene: Scene) -> None:
    with_prepare(scene)
    scene.engine.programs["prepare"] = Program(exit_code=1)
    lab = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    scene.work()
    assert data.advance(scene.platform, scene.cohort, lab, lab.version) == "failed"
    assert len(scene.jobs()) == 1
    scene.engine.programs["prepare"] = Program(files=MADE)
    labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    scene.work()
    assert labs.readiness(scene.platform, scene.teacher, "ai", "lab9")["prepared"]


def test_a_data_set_that_is_missing_is_named(scene: Scene) -> None:
    with_prepare(scene)
    (scene.platform.folders.cache / "digits").rmdir()
    with pytest.raises(PlatformFault, match="digits"):
        labs.publish(scene.platform, scene.teacher, "ai", scene.folder)


def test_files_of_a_version_can_be_read_by_the_uids_of_runs(scene: Scene) -> None:
    (scene.folder / "solution" / "code" / "train.py").chmod(0o600)
    lab = labs.publish(scene.platform, scene.teacher, "ai", scene.folder)
    folder = labs.version_folder(scene.platform, "ai", "lab9", lab.version)
    for part in (folder.source, folder.side):
        for path in part.rglob("*"):
            assert path.stat().st_mode & 0o004, path
    assert scene.platform.folders.root.stat().st_mode & 0o077 == 0
