"""The records of a job directory: written once, whole, by the one who may."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from qianka import jobdir
from qianka.jobdir import records
from qianka.jobdir.files import write_once

JOB = {"format": 1, "job": "j-1", "kind": "run", "argv": ["/bin/true"]}


def test_a_job_is_made_once_and_making_it_again_changes_nothing(hostile_path: Path) -> None:
    first = jobdir.make(hostile_path, JOB)
    written = os.stat(f"{first}/job.json").st_mtime_ns
    assert jobdir.make(hostile_path, JOB) == first
    assert os.stat(f"{first}/job.json").st_mtime_ns == written
    assert jobdir.read_job(first) == JOB


def test_another_job_under_the_same_id_is_refused(tmp_path: Path) -> None:
    jobdir.make(tmp_path, JOB)
    with pytest.raises(jobdir.FormatError, match="another job"):
        jobdir.make(tmp_path, {**JOB, "argv": ["/bin/false"]})


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\nb", ".hidden", "-rf", "名", "x" * 101, None, 7])
def test_an_id_is_one_plain_name(tmp_path: Path, name: object) -> None:
    with pytest.raises(jobdir.FormatError):
        jobdir.make(tmp_path, {**JOB, "job": name})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("run", [0, -1, True, "1", 1.0])
def test_a_run_is_a_number_from_one_on(tmp_path: Path, run: object) -> None:
    with pytest.raises(jobdir.FormatError):
        jobdir.run_dir(tmp_path, run)  # type: ignore[arg-type]


def test_a_run_is_claimed_by_one(tmp_path: Path) -> None:
    directory = jobdir.make(tmp_path, JOB)
    taken: list[bool] = []
    threads = [threading.Thread(target=lambda: taken.append(records.claim(directory, 1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 7 + [True]
    assert jobdir.runs(directory) == [1]


def test_the_result_of_the_run_that_the_fence_names_counts(tmp_path: Path) -> None:
    directory = jobdir.make(tmp_path, JOB)
    for run in (1, 2):
        records.claim(directory, run)
    jobdir.set_fence(directory, {"run": 2, "node": "here", "cores": [], "cards": []})
    assert records.put_result(directory, 1, {"format": 1, "run": 1}) == "result.stale.json"
    assert records.put_result(directory, 2, {"format": 1, "run": 2}) == "result.json"
    assert jobdir.read_result(directory, 1) is None
    assert jobdir.read_result(directory, 2) == {"format": 1, "run": 2}


def test_a_second_result_of_a_run_is_kept_aside(tmp_path: Path) -> None:
    directory = jobdir.make(tmp_path, JOB)
    records.claim(directory, 1)
    assert records.put_result(directory, 1, {"format": 1, "run": 1, "n": "first"}) == "result.json"
    assert records.put_result(directory, 1, {"format": 1, "run": 1, "n": "second"}) == "result.stale.json"
    result = jobdir.read_result(directory, 1)
    assert result is not None
    assert result["n"] == "first"


def test_a_result_of_another_run_or_format_is_not_believed(tmp_path: Path) -> None:
    directory = jobdir.make(tmp_path, JOB)
    records.claim(directory, 1)
    jobdir.write_json(f"{directory}/runs/1/result.json", {"format": 1, "run": 2})
    with pytest.raises(jobdir.FormatError):
        jobdir.read_result(directory, 1)


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"format": 1, "run": 1}')
    directory = jobdir.make(tmp_path, JOB)
    records.claim(directory, 1)
    os.symlink(tmp_path / "secret", f"{directory}/runs/1/result.json")
    with pytest.raises(OSError, match="symbolic links"):
        jobdir.read_result(directory, 1)


def test_a_file_beyond_the_cap_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.json").write_text('{"a": "' + "x" * 2_000_000 + '"}')
    with pytest.raises(jobdir.FormatError, match="longer than"):
        jobdir.read_json(str(tmp_path / "big.json"))


def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(jobdir.FormatError, match="not a regular file"):
        jobdir.read_json(str(tmp_path / "pipe.json"))


def test_nothing_is_left_aside_when_a_file_is_there_already(tmp_path: Path) -> None:
    assert write_once(str(tmp_path / "x"), {"a": 1})
    assert not write_once(str(tmp_path / "x"), {"a": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_cancelling_leaves_a_mark_that_may_be_left_twice(tmp_path: Path) -> None:
    directory = jobdir.make(tmp_path, JOB)
    assert not jobdir.cancel_asked(directory)
    jobdir.ask_cancel(directory)
    jobdir.ask_cancel(directory)
    assert jobdir.cancel_asked(directory)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"argv": []}, "argv"),
        ({"argv": "ls"}, "argv"),
        ({"cwd": "relative"}, "cwd"),
        ({"work": "/a/../b"}, "work"),
        ({"mounts": [{"source": "/a"}]}, "mounts"),
        ({"resources": {"cpus": 0}}, "resources.cpus"),
        ({"resources": {"memory": 1.5}}, "resources.memory"),
        ({"limits": {"wall": -1}}, "limits.wall"),
        ({"limits": {"processes": True}}, "limits.processes"),
        ({"isolation": {"backend": "chroot"}}, "isolation.backend"),
        ({"environment": {"A=B": "x"}}, "environment"),
    ],
)
def test_a_job_that_cannot_be_run_is_told_by_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(jobdir.FormatError, match=field):
        jobdir.filled({**JOB, **change})


def test_a_job_is_filled_with_defaults_that_contain_it() -> None:
    full = jobdir.filled(JOB)
    assert full["isolation"] == {"backend": "bubblewrap", "minimum": "full"}
    assert full["network"] == "none"
    assert full["volume"] == "tmpfs"
    assert JOB == {"format": 1, "job": "j-1", "kind": "run", "argv": ["/bin/true"]}
