"""A lab as its lab.toml declares it: frozen, checked, in the words of the rubric."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qianka.domain.resources import Resources
from qianka.errors import Text
from qianka.grading.metrics import METRICS, Metric

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
    late: Literal["refuse", "mark"]
    grace_seconds: int


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


Check = MetricCheck | TimeCheck | MemoryCheck | StyleCheck


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
    train: Program
    predict: Program
    predictions: Predictions
    checks: tuple[Check, ...]
    board: BoardRule
    reference: ReferenceRule | None

    def all(self, kind: str) -> list[Check]:
        """The checks of one kind, in the order of the file."""
        return [check for check in self.checks if check.kind == kind]

    @property
    def style(self) -> StyleCheck | None:
        """The style check, if the lab has one."""
        return next((check for check in self.checks if isinstance(check, StyleCheck)), None)

    @property
    def metric_checks(self) -> list[MetricCheck]:
        """What decides between accepted and below_line."""
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
