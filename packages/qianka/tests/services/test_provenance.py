"""Where a hand-in came from: recorded at the end of jobs, matched by content, and never told to the wrong person."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.domain.jobs import JobState
from qianka.domain.people import Role
from qianka.errors import NotFound
from qianka.services import jobs, provenance
from qianka.services.platform import Platform
from qianka.services.provenance import contents
from qianka.services.versions import version_folder
from qianka.store.tables import Cohort, GroupMember, Job, JobTrace, Ledger, OutFile, Person, Submission, TreeFile
from qianka.store.tables import Group as Team
from qianka.testing import (
    caller_of,
    enroll,
    make_cohort,
    make_job,
    make_lab,
    make_person,
    make_platform,
    make_student,
    make_submission,
)

TRAIN = "import torch\nprint('this is the training of one student')\n"
MODEL = "class Net:\n    'a network of some size, long enough to tell'\n"
WEIGHTS = b"PK-weights" * 100


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path)
    yield platform
    platform.store.close()


@pytest.fixture
def cohort(platform: Platform) -> Cohort:
    return make_cohort(platform)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def tree(platform: Platform, digest: str, files: dict[str, str]) -> Path:
    folder = platform.folders.trees / digest
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def ran(
    platform: Platform,
    person: Person,
    cohort: Cohort | None,
    *,
    code: Path | None = None,
    out: dict[str, bytes] | None = None,
    curve: str = "",
    gpu_seconds: float = 0.0,
    spec: dict[str, Any] | None = None,
    state: JobState = JobState.COMPLETED,
) -> Job:
    """A job of `person` that has ended, with what it left; recorded."""
    job = make_job(
        platform,
        person,
        cohort=cohort,
        spec={"argv": ["python", "/work/train.py"], "work": None if code is None else str(code), **(spec or {})},
    )
    directory = Path(jobdir.make(platform.folders.jobs, job.spec))
    (directory / "out").mkdir(exist_ok=True)
    for name, data in (out or {}).items():
        (directory / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / "out" / name).write_bytes(data)
    (directory / "runs/1").mkdir(parents=True)
    (directory / "runs/1/metrics.jsonl").write_text(curve)
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.state, row.run, row.ended_at, row.result = state.value, 1, platform.now(), {"state": state.value}
        session.add(
            Ledger(
                job_id=job.id,
                run=1,
                person_id=person.id,
                cohort_id=None if cohort is None else cohort.id,
                kind="run",
                cpu_seconds=1800.0,
                gpu_seconds=gpu_seconds,
                charged=True,
                started_at=platform.now(),
                ended_at=platform.now(),
            )
        )
    provenance.Recorder(platform).step()
    return job


def handed(platform: Platform, lab: Any, person: Person, files: dict[str, bytes], **fields: Any) -> Submission:
    listed = [{"path": name, "size": len(data), "sha256": sha(data)} for name, data in files.items()]
    return make_submission(platform, lab, person, files=listed, **fields)


def test_code_of_a_job_is_found_again_under_another_folder(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    code = tree(platform, "ab" * 32, {"train.py": TRAIN, "src/model.py": MODEL})
    for _ in range(3):
        ran(platform, student, cohort, code=code, gpu_seconds=2520.0)
    lab = make_lab(platform, cohort)
    files = {"作业/code/train.py": TRAIN.encode(), "作业/code/model.py": MODEL.encode()}
    row = handed(platform, lab, student, files)
    found = provenance.of_submission(platform, caller_of(student), row.id)
    assert found.sentence.en == "trained here: 3 runs, 2.1 GPU-h"
    assert found.sentence.zh == "在这里训练：3 次运行，2.1 GPU 小时"
    assert [file.origin for file in found.files] == ["code", "code"]
    assert found.untraced == []
    assert all(source.is_whole and len(source.ran) == 2 for source in found.sources)


def test_weights_are_traced_to_the_job_that_left_them(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    code = tree(platform, "ab" * 32, {"train.py": TRAIN})
    curve = "".join(json.dumps({"step": n, "loss": 2.0 / (n + 1), "accuracy": n / 100}) + "\n" for n in range(300))
    job = ran(
        platform,
        student,
        cohort,
        code=code,
        out={"best/model.pt": WEIGHTS, "config.json": b'{"seed": 17, "lr": 0.1}'},
        curve=curve,
        gpu_seconds=60.0,
    )
    row = handed(platform, make_lab(platform, cohort), student, {"model.pt": WEIGHTS, "predict.py": b"x = 1\n" * 20})
    found = provenance.of_submission(platform, caller_of(student), row.id)
    (source,) = found.sources
    assert source.trace is not None
    assert (source.job.id, source.left, source.is_whole) == (job.id, ["model.pt"], True)
    assert (source.trace.seed, source.trace.seed_from) == ("17", "config")
    assert source.trace.figures["accuracy"] == pytest.approx(2.99)
    assert source.trace.curve["name"] == "loss"
    assert 2 <= len(source.trace.curve["steps"]) <= 101
    assert source.trace.curve["steps"][-1] == 299
    assert [(file.path, file.origin) for file in found.files] == [("model.pt", "out"), ("predict.py", "none")]
    assert found.sentence.en == "trained here: 1 run, 0.017 GPU-h; 1 file cannot be traced"


def test_nothing_that_matches_is_said_as_such(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    ran(platform, student, cohort, code=tree(platform, "ab" * 32, {"train.py": TRAIN}))
    files = {"model.pt": b"from elsewhere" * 9, "README.md": b"words " * 20, "train.py": b"other code " * 9}
    row = handed(platform, make_lab(platform, cohort), student, files)
    found = provenance.of_submission(platform, caller_of(student), row.id)
    assert (found.sources, found.runs) == ([], 0)
    assert [file.path for file in found.untraced] == ["model.pt", "train.py", "README.md"]  # weights first
    assert found.sentence.en == "no job here made it; 3 files cannot be traced"


def test_a_part_of_the_code_is_shown_but_is_not_a_training(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    ran(platform, student, cohort, code=tree(platform, "ab" * 32, {"train.py": TRAIN, "model.py": MODEL}))
    row = handed(platform, make_lab(platform, cohort), student, {"train.py": TRAIN.encode(), "model.py": b"new" * 40})
    found = provenance.of_submission(platform, caller_of(student), row.id)
    assert [(source.ran, source.is_whole) for source in found.sources] == [(["train.py"], False)]
    assert found.runs == 0


def test_a_job_of_another_is_a_flag_for_staff_and_nothing_at_all_for_students(
    platform: Platform, cohort: Cohort
) -> None:
    maker, other, teacher = make_student(platform, cohort), make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    code = tree(platform, "ab" * 32, {"train.py": TRAIN})
    job = ran(platform, maker, cohort, code=code, out={"model.pt": WEIGHTS})
    row = handed(platform, make_lab(platform, cohort), other, {"model.pt": WEIGHTS, "train.py": TRAIN.encode()})
    seen = provenance.of_submission(platform, caller_of(other), row.id)
    assert (seen.sources, seen.flags, seen.runs) == ([], [], 0)
    assert [file.origin for file in seen.files] == ["none", "none"]
    told = provenance.of_submission(platform, caller_of(teacher), row.id)
    assert [(flag.path, flag.person.id, flag.job.id, flag.place) for flag in told.flags] == [
        ("model.pt", maker.id, job.id, "out"),
        ("train.py", maker.id, job.id, "code"),
    ]
    assert told.sources == []
    with pytest.raises(NotFound):
        provenance.of_submission(platform, caller_of(maker), row.id)


def test_files_that_everybody_was_given_raise_no_flag(platform: Platform, cohort: Cohort) -> None:
    maker, other, teacher = make_student(platform, cohort), make_student(platform, cohort), make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    ran(platform, maker, cohort, code=tree(platform, "ab" * 32, {"model.py": MODEL, "__init__.py": ""}))
    lab = make_lab(platform, cohort)
    public = version_folder(platform, cohort.slug, lab.slug, lab.version).public
    public.parent.mkdir(parents=True)
    with zipfile.ZipFile(public, "w") as archive:
        archive.writestr("lab1/model.py", MODEL)
    row = handed(platform, lab, other, {"model.py": MODEL.encode(), "__init__.py": b""})
    told = provenance.of_submission(platform, caller_of(teacher), row.id)
    assert [file.origin for file in told.files] == ["given", "small"]
    assert (told.flags, told.untraced) == ([], [])


def test_what_ran_after_the_hand_in_did_not_make_it(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    code = tree(platform, "ab" * 32, {"train.py": TRAIN})
    before = platform.now() - timedelta(hours=1)
    ran(platform, student, cohort, code=code)
    row = handed(platform, make_lab(platform, cohort), student, {"train.py": TRAIN.encode()}, submitted_at=before)
    assert provenance.of_submission(platform, caller_of(student), row.id).sources == []


def test_a_group_is_traced_to_the_jobs_of_its_members(platform: Platform, cohort: Cohort) -> None:
    one, two = make_student(platform, cohort), make_student(platform, cohort)
    job = ran(platform, one, cohort, out={"model.pt": WEIGHTS}, gpu_seconds=3600.0)
    with platform.store.transaction() as session:
        team = Team(cohort_id=cohort.id, name="team", alias="owls", created_at=platform.now())
        session.add(team)
        session.flush()
        for person in (one, two):
            session.add(GroupMember(group_id=team.id, person_id=person.id, state="member", since=platform.now()))
        team_id = team.id
    row = handed(platform, make_lab(platform, cohort), two, {"model.pt": WEIGHTS}, group_id=team_id)
    found = provenance.of_submission(platform, caller_of(two), row.id)
    assert [(source.job.id, source.person.id) for source in found.sources] == [(job.id, one.id)]


def test_staff_is_not_shown_jobs_of_other_cohorts(platform: Platform, cohort: Cohort) -> None:
    student, teacher, elsewhere = make_student(platform, cohort), make_person(platform), make_cohort(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    enroll(platform, elsewhere, student)
    ran(platform, student, elsewhere, out={"model.pt": WEIGHTS})
    row = handed(platform, make_lab(platform, cohort), student, {"model.pt": WEIGHTS})
    assert len(provenance.of_submission(platform, caller_of(student), row.id).sources) == 1
    told = provenance.of_submission(platform, caller_of(teacher), row.id)
    assert (told.sources, [file.origin for file in told.files]) == ([], ["elsewhere"])


@pytest.mark.parametrize(
    ("curve", "spec", "seed", "said"),
    [
        ('{"step": 1, "seed": 5, "loss": 1.0}\n', {}, "5", "metrics"),
        ("", {"argv": ["python", "t.py", "--seed", "9"]}, "9", "arguments"),
        ("", {"argv": ["python", "t.py", "--seed=-3"]}, "-3", "arguments"),
        ("", {"argv": ["python"], "environment": {"SEED": "11"}}, "11", "environment"),
        ("", {"argv": ["python", "--seed", "<script>"]}, None, None),
        ('{"step": 1, "seed": 0.5}\n', {"argv": ["python", "--seed"]}, None, None),
        ("not json\n" * 3, {}, None, None),
    ],
)
def test_seeds_as_programs_say_them(
    platform: Platform, cohort: Cohort, curve: str, spec: dict[str, Any], seed: str | None, said: str | None
) -> None:
    job = ran(platform, make_student(platform, cohort), cohort, curve=curve, spec=spec)
    with platform.store.reading() as session:
        trace = session.get(JobTrace, job.id)
        assert trace is not None
        assert (trace.seed, trace.seed_from) == (seed, said)


def test_hashing_is_bounded_and_follows_no_link(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "deep/er").mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_bytes(b"not of this job")
    os.symlink(secret, folder / "link")
    os.symlink(tmp_path, folder / "folder-link")
    os.mkfifo(folder / "fifo")
    (folder / "big").write_bytes(b"x" * 2000)
    (folder / os.fsdecode(b"odd\xff")).write_bytes(b"odd")
    for number in range(5):
        (folder / f"deep/er/{number}").write_bytes(b"%d" % number)
    found = contents.of_folder(folder, files=4, file_bytes=1000)
    assert [file.path for file in found.files] == ["odd\ufffd", "deep/er/0", "deep/er/1", "deep/er/2"]
    assert {(entry["path"], entry["why"]) for entry in found.skipped} == {
        ("big", "too_large"),
        ("deep/er/3", "too_many"),
        ("deep/er/4", "too_many"),
    }
    assert contents.of_folder(folder, total=2001).skipped[0]["why"] == "too_much"
    with pytest.raises(FileNotFoundError):
        contents.of_folder(tmp_path / "nonesuch")


def test_a_step_records_each_ended_job_once_and_the_code_of_a_tree_once(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    code = tree(platform, "ab" * 32, {"train.py": TRAIN})
    for _ in range(2):
        ran(platform, student, cohort, code=code, out={"a": b"x" * 40})
    make_job(platform, student, cohort=cohort)  # still waits
    assert provenance.Recorder(platform).step() is False
    with platform.store.reading() as session:
        counts = [session.query(table).count() for table in (JobTrace, TreeFile, OutFile)]
    assert counts == [2, 1, 2]


def test_a_job_whose_directory_is_gone_is_recorded_as_gone(platform: Platform, cohort: Cohort) -> None:
    student = make_student(platform, cohort)
    job = make_job(platform, student, cohort=cohort)
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.run = 1
        jobs.settle(session, platform, row, 1, {"state": "COMPLETED", "wall": 1.0})
    provenance.Recorder(platform).step()
    with platform.store.reading() as session:
        trace = session.get(JobTrace, job.id)
        assert trace is not None
        assert trace.is_gone


def test_a_lost_lease_records_nothing(platform: Platform, cohort: Cohort) -> None:
    class Lost(Exception):
        pass

    def guard(_: object) -> None:
        raise Lost

    student = make_student(platform, cohort)
    job = make_job(platform, student, cohort=cohort)
    with platform.store.transaction() as session:
        row = session.get(Job, job.id)
        assert row is not None
        row.run, row.state, row.ended_at = 1, "COMPLETED", platform.now()
    with pytest.raises(Lost):
        provenance.Recorder(platform, guard=guard).step()
    with platform.store.reading() as session:
        assert session.get(JobTrace, job.id) is None
