"""The golden samples and what the program writes, against the schemas of contracts/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from qianka import jobdir
from qianka.jobdir import spec
from qianka.supervisor.result import Outcome, result_of
from qianka.supervisor.verdict import reason

CONTRACTS = Path(__file__).parents[4] / "contracts"
SAMPLES = sorted((CONTRACTS / "samples").glob("job-*.json")) + sorted((CONTRACTS / "samples").glob("result-*.json"))


def schema(name: str) -> jsonschema.Draft202012Validator:
    content = json.loads((CONTRACTS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_golden_samples_keep_their_schema(path: Path) -> None:
    schema(path.name.split("-")[0]).validate(json.loads(path.read_text("utf-8")))


def test_there_are_samples_of_both() -> None:
    assert {path.name.split("-")[0] for path in SAMPLES} == {"job", "result"}


@pytest.mark.parametrize("path", [path for path in SAMPLES if path.name.startswith("job-")], ids=lambda path: path.name)
def test_the_program_reads_the_job_samples_and_fills_them_by_the_schema(path: Path) -> None:
    full = jobdir.filled(jobdir.read_json(str(path)))
    schema("job").validate(full)


def test_defaults_told_by_the_schema_are_the_program_s() -> None:
    properties = json.loads((CONTRACTS / "job.schema.json").read_text("utf-8"))["properties"]
    assert set(properties["limits"]["properties"]) == set(spec.LIMITS)
    assert set(properties["resources"]["properties"]) == set(spec.RESOURCES)
    assert tuple(properties["kind"]["enum"]) == spec.KINDS
    assert set(properties["isolation"]["properties"]["minimum"]["enum"]) == set(spec.LEVELS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sbatch": ["--constraint=a\n#SBATCH --uid=0"]},
        {"sbatch": ["uid=0"]},
        {"sbatch": "--uid=0"},
        {"container": {"kind": "docker", "image": "a\nb"}},
        {"container": {"kind": "chroot", "image": "a"}},
        {"container": {"kind": "docker", "image": "a", "options": "--privileged"}},
        {"cohort": "a\nb"},
        {"torchrun": "yes"},
        {"resources": {"nodes": 0}},
        {"resources": {"nodes": 1.5}},
        {"resources": {"exclusive": "no"}},
    ],
    ids=str,
)
def test_what_a_batch_script_cannot_hold_is_refused_by_program_and_schema(wrong: dict[str, Any]) -> None:
    job = {"format": 1, "job": "j-1", "kind": "run", "argv": ["true"], **wrong}
    with pytest.raises(jobdir.FormatError, match=next(iter(wrong))):
        jobdir.filled(job)
    assert not schema("job").is_valid(job)


def test_the_result_of_a_run_that_never_was_keeps_the_schema() -> None:
    outcome = Outcome(1)
    outcome.end("NODE_FAIL", reason("sandbox", text="no bubblewrap"))
    schema("result").validate(result_of(outcome))


def test_a_made_up_state_does_not() -> None:
    outcome = Outcome(1)
    result: dict[str, Any] = {**result_of(outcome), "state": "ACCEPTED"}
    with pytest.raises(jsonschema.ValidationError):
        schema("result").validate(result)
