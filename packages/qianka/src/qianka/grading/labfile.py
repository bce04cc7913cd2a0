"""lab.toml → Lab. Every mistake names file, line and key, in both languages (see docs/reference/lab-toml.md)."""

from __future__ import annotations

import sys
from pathlib import Path

from qianka.domain.resources import Resources
from qianka.errors import Text
from qianka.grading.labchecks import is_inside, read_checks
from qianka.grading.labdates import read_late
from qianka.grading.metrics import METRICS
from qianka.grading.model import (
    MIB,
    WEIGHT_SUFFIXES,
    BoardRule,
    Check,
    DataSource,
    Handin,
    Lab,
    MetricCheck,
    NotebookCheck,
    Predictions,
    Program,
    ReferenceRule,
)
from qianka.grading.reader import FILE, LabError, Notes, Problem, Table
from qianka.grading.toml_lines import line_of_error, scan

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_FILE = 256 * 1024
TRAIN = ("python", "/work/code/train.py", "--data", "/data", "--out", "/out")
PREDICT = ("python", "/work/code/predict.py", "--data", "/data", "--model", "/model", "--out", "/out")
ALLOWED = (".py", ".md", ".txt", ".toml", ".json", ".csv", ".yaml", ".yml", ".sh", ".png", ".jpg", ".pdf")


def load(folder: Path) -> Lab:
    """The lab declared by `folder`/lab.toml.

    Raises LabError with all mistakes when the file is missing, no TOML, or breaks a rule.
    """
    return parse(_text(folder), folder)


def parse(text: str, folder: Path) -> Lab:
    """The lab that `text` declares; files it names are looked up by `qianka.services.labs.check_lab`, not here."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_error(str(error), text)
        raise LabError([Problem(FILE, line, "", Text(f"不是合法的 TOML：{error}", f"is not TOML: {error}"))]) from error
    notes = Notes(scan(text))
    lab = _lab(Table(values, (), notes), folder)
    if notes.problems:
        raise LabError(sorted(notes.problems, key=lambda problem: problem.line))
    return lab


def _text(folder: Path) -> str:
    file = folder / FILE
    try:
        if file.stat().st_size > MAX_FILE:
            raise LabError(
                [Problem(FILE, 1, "", Text("文件太大（上限 256 KB）", "the file is too big (256 KB at most)"))]
            )
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise LabError([Problem(FILE, line, "", Text("不是 UTF-8 编码", "is not UTF-8"))]) from error
    except OSError as error:
        text = Text(f"读不了（{folder} 里要有 {FILE}）", f"cannot be read ({folder} must hold {FILE})")
        raise LabError([Problem(FILE, 1, "", text)]) from error


def _lab(top: Table, folder: Path) -> Lab:
    title = top.text("title")
    title_en = top.text("title_en", title or "-")
    grade = top.text("grade", "best", ("best", "last"))
    handin = _handin(top.table("handin", required=True))
    environment = top.table("environment")
    runtime = environment.text("runtime", "student", ("student",))
    environment.close()
    data = _data(top.table("data"))
    train = _program(top.table("train"), "train", TRAIN)
    predict = _program(top.table("predict"), "predict", PREDICT)
    checks = read_checks(top)
    metric = next((check.metric for check in checks if isinstance(check, MetricCheck)), "accuracy")
    predictions = _predictions(top.table("predictions"), METRICS[metric].column)
    board = _board(top.table("board"), metric, checks)
    reference = _reference(top)
    _agree(top, checks, reference, predictions, handin)
    top.close()
    trains = any(isinstance(check, MetricCheck) for check in checks)
    return Lab(
        folder=folder,
        title=Text(title, title_en),
        grade="last" if grade == "last" else "best",
        handin=handin,
        runtime=runtime,
        data=data,
        train=train if trains else None,
        predict=predict if trains else None,
        predictions=predictions if trains else None,
        checks=checks,
        board=board if trains else None,
        reference=reference,
    )


def _handin(table: Table) -> Handin:
    weights = table.boolean("weights", False)
    required = table.strings("required")
    for path in required:
        if not is_inside(path):
            table.bad("required", f"{path!r} 不是提交里的相对路径", f"{path!r} is no relative path inside a hand-in")
    allowed = tuple(suffix.lower() for suffix in table.strings("allowed", ALLOWED))
    for suffix in allowed:
        if not suffix.startswith("."):
            table.bad("allowed", f"后缀要带点：{suffix!r}", f"a suffix begins with a dot: {suffix!r}")
        if suffix in WEIGHT_SUFFIXES and not weights:
            table.bad(
                "allowed",
                f"{suffix} 会带入训练好的权重；要允许就写 weights = true",
                f"{suffix} may carry trained weights; to allow it say weights = true",
            )
    handin = Handin(
        required=required,
        allowed=allowed,
        max_mb=table.number("max_mb", 10.0, 0.01, 2048),
        max_files=table.integer("max_files", 200, 1, 10_000),
        max_source_kb=table.integer("max_source_kb", 64, 1, 10_240),
        weights=weights,
        attempts_a_day=table.integer("attempts_a_day", 10, 1, 1000),
        **read_late(table),
        group=table.integer("group", 1, 1, 20),
    )
    table.close()
    return handin


def _data(table: Table) -> DataSource:
    prepare = table.maybe_text("prepare")
    if prepare is not None and not is_inside(prepare):
        table.bad("prepare", "要写实验文件夹里的相对路径", "must be a relative path inside the lab's folder")
    cache = table.strings("cache", ())
    for name in cache:
        if not name.replace("-", "").replace("_", "").replace(".", "").isalnum() or name.startswith("."):
            table.bad(
                "cache",
                f"数据集名只含字母、数字、- _ .：{name!r}",
                f"a data set's name is letters, digits, - _ .: {name!r}",
            )
    source = DataSource(
        prepare=prepare,
        cache=cache,
        wall=table.number("wall", 120.0, 1, 7200),
        memory=int(table.number("memory_mb", 1024, 64, 1 << 20) * MIB),
    )
    table.close()
    return source


def _program(table: Table, name: str, argv: tuple[str, ...]) -> Program:
    given = table.strings("argv", argv)
    if not given or given[0] != "python":
        table.bad(
            "argv",
            '第一项必须是 "python"（学生环境的解释器）',
            'must begin with "python" (that of the student runtime)',
        )
    program = Program(
        argv=given,
        resources=Resources(
            cpus=table.number("cpus", 1.0, 0.1, 256),
            memory=int(table.number("memory_mb", 1024, 64, 1 << 20) * MIB),
            gpus=table.integer("gpus", 0, 0, 64),
        ),
        wall=table.number("wall", 300.0 if name == "train" else 60.0, 1, 7 * 86400),
        cpu=table.maybe_number("cpu", 1, 7 * 86400),
        processes=table.integer("processes", 64, 8, 4096),
        disk=int(table.number("disk_mb", 256, 1, 1 << 20) * MIB),
        inodes=table.integer("inodes", 4096, 64, 1_000_000),
        tmp=int(table.number("tmp_mb", 128, 1, 1 << 20) * MIB),
        output_total=int(table.number("print_mb", 64, 1, 1024) * MIB),
    )
    table.close()
    return program


def _predictions(table: Table, column: str) -> Predictions:
    file = table.text("file", "predictions.csv")
    if "/" in file or not file.endswith((".csv", ".npy")) or file.startswith("."):
        table.bad(
            "file", "应是 .csv 或 .npy 文件名，不带目录", "must be the name of a .csv or .npy file, without a folder"
        )
    labels = table.strings("labels") if "labels" in table else None
    if labels is None:
        table.take("labels")
    predictions = Predictions(
        file=file,
        id_column=table.text("id", "id"),
        column=table.text("column", column),
        labels=labels,
        max_bytes=int(table.number("max_mb", 16, 0.01, 1024) * MIB),
    )
    table.close()
    return predictions


def _board(table: Table, metric: str, checks: tuple[Check, ...]) -> BoardRule:
    named = [check.metric for check in checks if isinstance(check, MetricCheck)]
    board = BoardRule(
        metric=table.text("metric", metric, tuple(named) or tuple(METRICS)),
        digits=table.integer("digits", 4, 0, 8),
    )
    table.close()
    return board


def _reference(top: Table) -> ReferenceRule | None:
    if "reference" not in top:
        top.take("reference")
        return None
    table = top.table("reference")
    folder = table.text("folder", "solution")
    if not is_inside(folder):
        table.bad("folder", "要写实验文件夹里的相对路径", "must be a relative path inside the lab's folder")
    rule = ReferenceRule(folder=folder, runs=table.integer("runs", 3, 1, 9))
    table.close()
    return rule


def _agree(
    top: Table,
    checks: tuple[Check, ...],
    reference: ReferenceRule | None,
    predictions: Predictions,
    handin: Handin,
) -> None:
    """What must hold between tables."""
    if not any(isinstance(check, MetricCheck) for check in checks):
        for key in ("train", "predict", "predictions", "board"):
            if key in top:
                zh, en = "没有 metric 检查时不训练也不预测", "without a metric check nothing is trained or predicted"
                top.bad(key, f"{zh}，去掉这个表", f"{en}: leave this table out")
    for check in checks:
        if isinstance(check, NotebookCheck) and ".ipynb" not in handin.allowed:
            zh, en = "notebook 检查要收 .ipynb 文件：在 allowed 里写上", "a notebook check takes .ipynb files"
            top.bad("handin", zh, f"{en}: name the suffix in allowed")
    needs = [c.kind for c in checks if c.kind == "time" or (c.kind == "memory" and getattr(c, "unit", "") == "ratio")]
    if needs and reference is None:
        top.bad(
            "reference",
            f"{needs[0]} 检查要和参考解比较，需要 [reference]",
            f"the {needs[0]} check compares with the reference solution: [reference] is needed",
        )
    columns = {check.rule.column for check in checks if isinstance(check, MetricCheck)}
    if len(columns) > 1:
        top.bad("check", "各指标要用同一种预测（标签或数值）", "all metrics must use the same kind of prediction")
    if predictions.labels is not None and columns == {"value"}:
        top.bad("predictions", "数值预测没有 labels", "predictions of values have no labels")
