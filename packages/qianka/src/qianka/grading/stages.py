"""What an attempt is made of: stages, each one job. This module says what they run, it runs nothing.

train → predict → judge; style, tests and notebook beside them. Student code and answers never meet in one sandbox:
tests and notebook are runs of two, with one socket between (see harness/wire.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qianka.domain.resources import Resources
from qianka.grading.model import MIB, Lab, NotebookCheck, Predictions, Program, StyleCheck, TestsCheck

HARNESS = Path(__file__).resolve().parent / "harness"
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FILES = "files"
"""folder of a lab whose files lie beside the notebook when it runs"""
OURS = Resources(cpus=1.0, memory=768 * MIB)
"""what a stage of our own code may use"""
OUR_WALL = 180.0
STYLE_TOOL_MEMORY = 600 * MIB
STYLE_TOOL_SECONDS = 40
"""after which a tool counts as hung on this hand-in: it costs the points, not the grading"""
OUR_SIDE = 512 * MIB
"""memory of our side of a paired run"""
NOTEBOOK_SIDE = 1024 * MIB
"""the same for a notebook, which is parsed there"""
PAIRED_MARGIN = 60.0
"""seconds of a paired run beyond `seconds_total`: our side ends in time by itself, so a wall limit is our fault"""
JUDGE_ROOT = "/judge/qianka"
JUDGE = f"{JUDGE_ROOT}/grading/harness"
"""where both sides of a paired run find the harness: below a folder that imports find `qianka.grading.harness` in"""
FIGURES = {"judge": "figures.json", "style": "style.json", "tests": "tests.json", "notebook": "notebook.json"}
"""the file that a stage of ours leaves in out/"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage: its job (see contracts/job.schema.json, without what the platform adds) and what it waits for."""

    name: str
    needs: tuple[str, ...]
    spec: dict[str, Any]
    resources: Resources
    wall: float


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Where things lie on this host. `outs`: what stages that ended have left, by stage."""

    tree: Path
    train_data: Path
    test_data: Path
    answers: Path
    runtime: Path
    outs: dict[str, Path] = field(default_factory=dict)


def stages(lab: Lab, paths: Paths) -> list[Stage]:
    """The stages that can be described now: those whose needs are in `paths.outs`."""
    made = []
    if lab.train is not None:
        made.append(_program(lab.train, "train", (), paths, [_mount(paths.train_data, "/data")]))
    if lab.style is not None:
        made.append(_style(lab.style, paths))
    made += [_paired(check, lab, paths) for check in lab.paired]
    if lab.predict is not None and "train" in paths.outs:
        mounts = [_mount(paths.test_data, "/data"), _mount(paths.outs["train"], "/model")]
        made.append(_program(lab.predict, "predict", ("train",), paths, mounts))
    if lab.predictions is not None and "predict" in paths.outs:
        made.append(_judge(lab, lab.predictions, paths))
    return made


def stage(lab: Lab, paths: Paths, name: str) -> Stage:
    """The stage called `name`; a repeat (`train#2`) is the stage it repeats. Raises KeyError before its time."""
    base = name.partition("#")[0]
    return {made.name: made for made in stages(lab, paths)}[base]


def names(lab: Lab) -> tuple[str, ...]:
    """All stages of an attempt, in the order in which they are shown."""
    found = [] if lab.train is None else ["train", "predict"]
    found += [check.kind for check in lab.paired]
    found += [] if lab.style is None else ["style"]
    return tuple(found) if lab.train is None else (*found, "judge")


def prepare(lab: Lab, cache: Path, secret: Path, runtime: Path) -> Stage:
    """The job that makes the lab's data: the teacher's script, contained like everybody's."""
    argv = ["python", f"/lab/{lab.data.prepare}", "--cache", "/cache", "--out", "/out", "--seed-file", "/secret/seed"]
    mounts = [_mount(lab.folder, "/lab"), _mount(secret, "/secret")]
    mounts += [_mount(cache / name, f"/cache/{name}") for name in lab.data.cache]
    return Stage(
        name="prepare",
        needs=(),
        spec=_spec(runtime, argv, None, mounts, _limits(disk=1024 * MIB, inodes=200_000, tmp=1024 * MIB)),
        resources=Resources(cpus=1.0, memory=lab.data.memory),
        wall=lab.data.wall,
    )


def _program(program: Program, name: str, needs: tuple[str, ...], paths: Paths, mounts: list[dict[str, Any]]) -> Stage:
    limits = {
        "cpu": program.cpu,
        "processes": program.processes,
        "output_total": program.output_total,
        "disk": program.disk,
        "inodes": program.inodes,
        "tmp": program.tmp,
    }
    return Stage(
        name=name,
        needs=needs,
        spec=_spec(paths.runtime, list(program.argv), paths.tree, mounts, limits),
        resources=program.resources,
        wall=program.wall,
    )


def _style(check: StyleCheck, paths: Paths) -> Stage:
    rules = {"line_length": check.line_length, "memory": STYLE_TOOL_MEMORY, "seconds": STYLE_TOOL_SECONDS}
    argv = ["python", "-I", "/judge/style.py", "--work", "/work", "--out", "/out/style.json"]
    argv += ["--rules", json.dumps(rules)]
    spec = _spec(paths.runtime, argv, paths.tree, [_mount(HARNESS, "/judge")], _limits())
    return Stage(name="style", needs=(), spec=spec, resources=OURS, wall=OUR_WALL)


def _paired(check: TestsCheck | NotebookCheck, lab: Lab, paths: Paths) -> Stage:
    """Our side: the harness and the master copy, no student code. The peer: the hand-in, nothing of the tests."""
    shared = [_mount(HARNESS, JUDGE)]
    if paths.train_data.is_dir():
        shared.append(_mount(paths.train_data, "/data"))
    script, rules = _program_of(check, lab)
    argv = ["python", "-I", f"{JUDGE}/{script}", "--lab", "/lab", "--out", f"/out/{FIGURES[check.kind]}"]
    argv += ["--rules", json.dumps(rules, ensure_ascii=False)]
    peer, own, started = check.peer, [_mount(lab.folder, "/lab")], [f"{JUDGE}/peer.py", "--work", "/work"]
    side = OUR_SIDE
    if isinstance(check, NotebookCheck):
        # Our side reads the notebook as data, in bounded memory; the folder is no place that it imports from.
        own += [_mount(paths.tree, "/handin"), _mount(NOTEBOOKS, f"{JUDGE_ROOT}/notebooks")]
        argv += ["--handin", "/handin"]
        side = NOTEBOOK_SIDE
        started = [f"{JUDGE}/notebook/peer.py", "--work", f"/work/{check.file.rpartition('/')[0]}".rstrip("/")]
        started += ["--place", "/out/work", "--home", "/out/home"]
    spec = _spec(paths.runtime, argv, None, [*shared, *own], _limits())
    beside = [*shared]
    if isinstance(check, NotebookCheck) and (lab.folder / FILES).is_dir():
        beside.append(_mount(lab.folder / FILES, "/files"))
        started += ["--files", "/files"]
    theirs = _spec(paths.runtime, ["python", "-I", *started], paths.tree, beside, {})
    spec["peer"] = {
        **{key: theirs[key] for key in ("argv", "cwd", "work", "mounts", "runtime")},
        "environment": {"PYTHONHASHSEED": "0"},
        "resources": {"cpus": peer.resources.cpus, "memory": peer.resources.memory},
        "limits": {
            "cpu": None,
            "processes": peer.processes,
            "output_total": peer.output_total,
            "disk": peer.disk,
            "inodes": peer.inodes,
            "tmp": peer.tmp,
        },
    }
    whole = Resources(cpus=max(1.0, peer.resources.cpus), memory=peer.resources.memory + side, gpus=peer.resources.gpus)
    return Stage(name=check.kind, needs=(), spec=spec, resources=whole, wall=check.seconds_total + PAIRED_MARGIN)


def _program_of(check: TestsCheck | NotebookCheck, lab: Lab) -> tuple[str, dict[str, Any]]:
    """The script of our side, and the rules it is told."""
    rules: dict[str, Any] = {
        "seconds": check.seconds,
        "seconds_start": check.seconds_start,
        "seconds_total": check.seconds_total,
    }
    if isinstance(check, TestsCheck):
        return "run_tests.py", {**rules, "files": list(check.files), "path": check.path}
    return "notebook/ours.py", {**rules, "master": check.master, "file": check.file}


def _judge(lab: Lab, predictions: Predictions, paths: Paths) -> Stage:
    rules = {
        "metrics": sorted({check.metric for check in lab.metric_checks}),
        "kind": lab.metric_checks[0].rule.column,
        "id": predictions.id_column,
        "column": predictions.column,
        "labels": None if predictions.labels is None else list(predictions.labels),
        "max_bytes": predictions.max_bytes,
    }
    argv = ["python", "-I", "/judge/score.py", "--answers", "/answers/answers.csv"]
    argv += ["--predictions", f"/predictions/{predictions.file}", "--out", "/out/figures.json"]
    argv += ["--rules", json.dumps(rules, ensure_ascii=False)]
    mounts = [
        _mount(HARNESS, "/judge"),
        _mount(paths.answers, "/answers"),
        _mount(paths.outs["predict"], "/predictions"),
    ]
    spec = _spec(paths.runtime, argv, None, mounts, _limits())
    return Stage(name="judge", needs=("predict",), spec=spec, resources=OURS, wall=OUR_WALL)


def _limits(disk: int = 16 * MIB, inodes: int = 256, tmp: int = 256 * MIB) -> dict[str, Any]:
    return {"processes": 64, "disk": disk, "inodes": inodes, "tmp": tmp, "output_total": 16 * MIB}


def _mount(source: Path, target: str) -> dict[str, Any]:
    return {"source": str(source), "target": target, "writable": False}


def _spec(
    runtime: Path, argv: list[str], work: Path | None, mounts: list[dict[str, Any]], limits: dict[str, Any]
) -> dict[str, Any]:
    return {
        "argv": [str(runtime / "bin" / "python"), *argv[1:]],
        "environment": {},
        "cwd": "/out",
        "work": None if work is None else str(work),
        "mounts": mounts,
        "volume": "tmpfs",
        "runtime": str(runtime),
        "network": "none",
        "limits": limits,
    }
