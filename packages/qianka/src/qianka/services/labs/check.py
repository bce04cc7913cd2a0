"""What is wrong with a lab's folder before anybody publishes it: errors stop it, warnings do not."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qianka.errors import Text
from qianka.grading import labfile, masters, notebooks
from qianka.grading.model import Lab
from qianka.grading.reader import FILE, LabError, Problem
from qianka.grading.toml_lines import KeyPath, line_of, scan

LEFT_OUT = ("samples", "__pycache__", ".git", ".venv")
MAX_FILES = 5000
MAX_BYTES = 2 << 30


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found in a lab's folder; `lab` is None when lab.toml itself is wrong."""

    folder: Path
    lab: Lab | None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether it may be published."""
        return not self.errors

    def as_json(self) -> dict[str, Any]:
        """For `--json` and the HTTP API."""
        return {
            "ok": self.ok,
            "title": None if self.lab is None else self.lab.title._asdict(),
            "errors": [_as_json(problem) for problem in self.errors],
            "warnings": [_as_json(problem) for problem in self.warnings],
        }


def check_lab(folder: Path, *, practice: bool = False) -> Report:
    """Check lab.toml and that the files it names are there. Never raises for what the folder holds.

    `practice`: the folder is what students were given, without reference and hidden data.
    """
    try:
        lab = labfile.load(folder)
    except LabError as error:
        return Report(folder=folder, lab=None, errors=error.problems)
    found = _Findings(folder)
    _check_data(found, lab)
    if practice:
        lab = masters.at_hand(lab)
        _check_practice(found, lab)
    else:
        _check_reference(found, lab)
        _check_masters(found, lab)
    _check_argv(found, lab)
    _check_files(found)
    if not any((folder / name).is_file() for name in ("README.md", "README.zh-CN.md")):
        found.warn(FILE, (), "没有讲义 README.md", "there is no handout README.md")
    return Report(folder=folder, lab=lab, errors=found.errors, warnings=found.warnings)


def parts_of(lab: Lab) -> tuple[str, ...]:
    """The folders of data that a lab must have: none, where nothing is trained and no data is declared."""
    if lab.train is not None:
        return ("train", "test", "answers")
    return ("train",) if lab.data.prepare is not None else ()


def is_ready_made(lab: Lab) -> bool:
    """Whether data/ holds the lab's data (or it needs none), so that nothing has to be prepared."""
    return all((lab.folder / "data" / name).is_dir() for name in parts_of(lab))


class _Findings:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self._lines = scan((folder / FILE).read_bytes().decode("utf-8-sig"))

    def error(self, file: str, path: KeyPath, zh: str, en: str) -> None:
        self.errors.append(self._problem(file, path, zh, en))

    def warn(self, file: str, path: KeyPath, zh: str, en: str) -> None:
        self.warnings.append(self._problem(file, path, zh, en))

    def _problem(self, file: str, path: KeyPath, zh: str, en: str) -> Problem:
        line = line_of(self._lines, path) if file == FILE else 1
        return Problem(file, line, ".".join(path), Text(zh, en))


def _check_data(found: _Findings, lab: Lab) -> None:
    if is_ready_made(lab):
        if lab.train is not None and not (found.folder / "data" / "answers" / "answers.csv").is_file():
            found.error("data/answers/answers.csv", (), "没有这个文件", "is not there")
    elif lab.data.prepare is None:
        listed = [f"data/{name}" for name in parts_of(lab)]
        zh = f"没有 {'、'.join(listed)}，也没有写 prepare"
        found.error(FILE, ("data",), zh, f"{', '.join(listed)} are missing and there is no prepare")
    elif not (found.folder / lab.data.prepare).is_file():
        name = lab.data.prepare
        found.error(FILE, ("data", "prepare"), f"没有文件 {name}", f"there is no file {name}")


def _check_reference(found: _Findings, lab: Lab) -> None:
    if lab.reference is None:
        return
    folder = found.folder / lab.reference.folder
    missing = [name for name in lab.handin.required if not (folder / name).exists()]
    if missing:
        listed = ", ".join(missing)
        zh, en = f"参考解缺少 {listed}", f"the reference solution lacks {listed}"
        found.error(FILE, ("reference", "folder"), zh, en)


def _check_masters(found: _Findings, lab: Lab) -> None:
    """The teacher's own test files and notebook."""
    found.errors += masters.problems(lab)
    if lab.notebook is not None and not (found.folder / lab.notebook.master).is_file():
        name = lab.notebook.master
        found.error(FILE, ("check",), f"没有文件 {name}", f"there is no file {name}")
        return
    errors, warnings = notebooks.problems(lab)
    found.errors += errors
    found.warnings += warnings


def _check_practice(found: _Findings, lab: Lab) -> None:
    """At home there must be something left that decides."""
    if not lab.metric_checks and not lab.paired:
        zh = "这个实验的测试不发给学生，本机没有可试的；直接交上去看结果"
        found.error(FILE, ("check",), zh, "this lab's tests are not handed out: nothing to try at home, hand it in")


def _check_argv(found: _Findings, lab: Lab) -> None:
    for name, program in (("train", lab.train), ("predict", lab.predict)):
        argv = () if program is None else program.argv
        scripts = [word[len("/work/") :] for word in argv if word.startswith("/work/")]
        for script in scripts:
            if script not in lab.handin.required:
                zh = f"{script} 不在 handin.required 里，学生可能没交"
                found.warn(FILE, (name, "argv"), zh, f"{script} is not in handin.required: it may not be handed in")


def _check_files(found: _Findings) -> None:
    count = size = 0
    for path in sorted(found.folder.rglob("*")):
        shown = path.relative_to(found.folder).as_posix()
        if any(part in LEFT_OUT for part in path.relative_to(found.folder).parts):
            continue
        if path.is_symlink():
            found.error(shown, (), "不能有链接", "links are not allowed")
        elif path.is_file():
            count, size = count + 1, size + path.stat().st_size
    if count > MAX_FILES or size > MAX_BYTES:
        zh, en = f"太大：{count} 个文件，{size >> 20} MB", f"too big: {count} files, {size >> 20} MB"
        found.error(FILE, (), zh, en)


def _as_json(problem: Problem) -> dict[str, Any]:
    text = problem.say()
    return {"file": problem.file, "line": problem.line, "key": problem.key, "zh": text.zh, "en": text.en}
