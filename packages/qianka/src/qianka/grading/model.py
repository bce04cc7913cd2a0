"""A lab as its lab.toml declares it: frozen, checked, in the words of the rubric."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qianka.domain.resources import Resources
from qianka.errors import Text
from qianka.grading.metrics import METRICS, Metric
from qianka.policy.lateness import LatePolicy

MIB = 1 << 20
MAX_POINTS = 100.0
"""what the weights of all checks add up to"""

WEIGHT_SUFFIXES = (
    ".pt", ".pth", ".ckpt", ".bin", ".npz", ".npy", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5", ".onnx",
    ".safetensors", ".pb", ".tflite", ".msgpack", ".parquet", ".zst", ".gz", ".so", ".pyc", ".whl",
)  # fmt: skip
"""suffixes that carry trained weights or compiled code; refused unless the lab says `weights = true`"""


@dataclass(frozen=True, kw_only=True)
class Handin:
    """What may be handed in, how often and until when."""

    required: tuple[str, ...]
    allowed: tuple[str, ...]
    """lower-case suffixes with their dot; a file of any other suffix is refused"""
    max_mb: float
    max_files: int
    max_source_kb: int
    """largest single source or text file; a greater one is taken for a table of answers or weights in disguise"""
    weights: bool
    attempts_a_day: int
    late: Literal["refuse", "mark", "penalty"]
    grace_seconds: int
    late_penalty: float = 0.0
    """share of the points earned that each calendar day late takes"""
    late_steps: tuple[float, ...] = ()
    """instead: the share taken after 1, 2, … days"""
    late_cap: float = 1.0
    late_floor: float = 0.0
    late_most_days: int | None = None
    late_budget_days: int | None = None
    """late days of the cohort's budget that may be spent on this lab; None: all there are"""
    group: int = 1
    """people who may hand in together; 1: everybody for themselves"""

    @property
    def policy(self) -> LatePolicy:
        """What being late costs."""
        return LatePolicy(
            mode=self.late,
            grace_seconds=self.grace_seconds,
            per_day=self.late_penalty,
            steps=self.late_steps,
            cap=self.late_cap,
            floor=self.late_floor,
            most_days=self.late_most_days,
            budget_days=self.late_budget_days,
        )


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """How the lab's data comes to be; without `prepare` the folder data/ holds it ready-made."""

    prepare: str | None
    """the lab's own script, run as a job: writes train/ test/ answers/ public/"""
    cache: tuple[str, ...]
    """names of data sets in the platform's cache that `prepare` reads"""
    wall: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class Program:
    """One stage that runs student code: command and limits (seconds, bytes)."""

    argv: tuple[str, ...]
    resources: Resources
    wall: float
    cpu: float | None
    processes: int
    disk: int
    inodes: int
    tmp: int
    output_total: int


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """The file that the predict stage must leave in /out."""

    file: str
    id_column: str
    column: str
    labels: tuple[str, ...] | None
    """the labels there are; None: those that occur among the answers"""
    max_bytes: int

    @property
    def format(self) -> str:
        """csv or npy."""
        return self.file.rsplit(".", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class MetricCheck:
    """Points for the score: `floor` earns nothing, `line` earns `at_line` of the weight, `full` all of it."""

    kind: Literal["metric"] = "metric"
    weight: float
    metric: str
    line: float
    full: float
    floor: float
    at_line: float

    @property
    def rule(self) -> Metric:
        return METRICS[self.metric]


Bands = tuple[tuple[float, float], ...]
"""(upper edge, share of the weight), edges rising, shares falling; above the last edge: nothing"""


@dataclass(frozen=True, kw_only=True)
class TimeCheck:
    """Points for speed: the ratio to the reference run on the same node falls into a band."""

    kind: Literal["time"] = "time"
    weight: float
    of: Literal["train", "predict"]
    measure: Literal["cpu", "wall"]
    bands: Bands


@dataclass(frozen=True, kw_only=True)
class MemoryCheck:
    """Points for thrift: peak memory as ratio to the reference run, or in MB."""

    kind: Literal["memory"] = "memory"
    weight: float
    of: Literal["train", "predict"]
    unit: Literal["ratio", "mb"]
    bands: Bands


@dataclass(frozen=True, kw_only=True)
class StyleCheck:
    """Points for form: half for black, half for flake8; `problems` of flake8 cost its whole half."""

    kind: Literal["style"] = "style"
    weight: float
    line_length: int
    problems: int


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What the student's side of a paired run may use (bytes); its time is bounded call by call, from our side."""

    resources: Resources
    processes: int
    disk: int
    inodes: int
    tmp: int
    output_total: int


@dataclass(frozen=True, kw_only=True)
class TestsCheck:
    """Points for functions that behave: our tests call the student's code from another sandbox."""

    kind: Literal["tests"] = "tests"
    weight: float
    files: tuple[str, ...]
    """patterns inside the lab's folder; the test files"""
    public: tuple[str, ...]
    """patterns of those test files that students are given, for `qianka check`"""
    path: str
    """folder of the hand-in that modules are imported from"""
    seconds: float
    """wall clock of one call"""
    seconds_start: float
    """wall clock of starting Python and importing a module"""
    seconds_total: float
    """wall clock of everything; tests that are left by then count as failed"""
    hints_after: int
    """hints are shown once the person has used this many tries"""
    line: float
    """share of the test points from which on it is accepted, 0..1"""
    peer: Peer


@dataclass(frozen=True, kw_only=True)
class NotebookCheck:
    """Points for cells that work: the master notebook's test cells, run against the student's cells."""

    kind: Literal["notebook"] = "notebook"
    weight: float
    master: str
    """the teacher's notebook with tests, a path inside the lab's folder"""
    file: str
    """the student's notebook, a path inside the hand-in"""
    seconds: float
    """wall clock of one cell"""
    seconds_start: float
    """wall clock of starting the kernel"""
    seconds_total: float
    """wall clock of everything; cells that are left by then count as failed"""
    hints_after: int
    line: float
    peer: Peer


Check = MetricCheck | TimeCheck | MemoryCheck | StyleCheck | TestsCheck | NotebookCheck


@dataclass(frozen=True, kw_only=True)
class BoardRule:
    """What ranks, and with how many digits it is shown: shown as equal is ranked as equal."""

    metric: str
    digits: int

    @property
    def rule(self) -> Metric:
        return METRICS[self.metric]


@dataclass(frozen=True, kw_only=True)
class ReferenceRule:
    """The teacher's hand-in that time and memory are measured against, and how often it is run."""

    folder: str
    runs: int


@dataclass(frozen=True, kw_only=True)
class Lab:
    """One lab, as declared by `folder`/lab.toml."""

    folder: Path
    title: Text
    grade: Literal["best", "last"]
    handin: Handin
    runtime: str
    data: DataSource
    train: Program | None
    """None, like `predict`, `predictions` and `board`, in a lab without a metric check: nothing is trained there"""
    predict: Program | None
    predictions: Predictions | None
    checks: tuple[Check, ...]
    board: BoardRule | None
    reference: ReferenceRule | None

    def all(self, kind: str) -> list[Check]:
        """The checks of one kind, in the order of the file."""
        return [check for check in self.checks if check.kind == kind]

    @property
    def style(self) -> StyleCheck | None:
        """The style check, if the lab has one."""
        return next((check for check in self.checks if isinstance(check, StyleCheck)), None)

    @property
    def tests(self) -> TestsCheck | None:
        """The check by tests, if the lab has one."""
        return next((check for check in self.checks if isinstance(check, TestsCheck)), None)

    @property
    def notebook(self) -> NotebookCheck | None:
        """The check of a notebook, if the lab has one."""
        return next((check for check in self.checks if isinstance(check, NotebookCheck)), None)

    @property
    def paired(self) -> tuple[TestsCheck | NotebookCheck, ...]:
        """The checks whose stage is a run of two sandboxes; the stage is called as the kind."""
        return tuple(check for check in self.checks if isinstance(check, TestsCheck | NotebookCheck))

    @property
    def metric_checks(self) -> list[MetricCheck]:
        """What decides, with `line` of the paired checks, between accepted and below_line."""
        return [check for check in self.checks if isinstance(check, MetricCheck)]

    @property
    def compared(self) -> tuple[str, ...]:
        """The stages whose reference run is needed, in order."""
        wanted = {
            check.of
            for check in self.checks
            if isinstance(check, TimeCheck) or (isinstance(check, MemoryCheck) and check.unit == "ratio")
        }
        return tuple(stage for stage in ("train", "predict") if stage in wanted)
