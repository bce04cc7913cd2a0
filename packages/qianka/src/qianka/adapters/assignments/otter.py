"""otter-grader: a source notebook of `otter assign`, or a students' notebook with tests/*.py in OK format.

https://otter-grader.readthedocs.io/en/latest/otter_assign/notebook_format.html
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qianka.adapters.assignments.source import Assignment, beside, made_cell, marks, open_notebook, outputs, title_of
from qianka.errors import BadInput, Text
from qianka.notebooks.pairing import is_otter
from qianka.notebooks.reading import Cell, Notebook

BLOCKS = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.If, ast.Try)
_MARK = re.compile(
    r"^\s*#\s*(ASSIGNMENT CONFIG|(?:BEGIN|END) (?:QUESTION|SOLUTION|TESTS|PROMPT|EXPORT))\b", re.IGNORECASE
)
_HIDDEN = re.compile(r"^\s*#\s*HIDDEN\s*$", re.IGNORECASE)
_CONFIG = re.compile(
    r"""^\s*(?:\"{3}|'{3})\s*#\s*BEGIN TEST CONFIG\s*\n(.*?)\n\s*(?:\"{3}|'{3})\s*#\s*END TEST CONFIG[^\n]*\n?""",
    re.DOTALL | re.IGNORECASE,
)
_CHECK = re.compile(r"""\bgrader\.check\(\s*["']([^"']+)["']""")
_FUNCTION = re.compile(r"^def\s+(test_?\w*)\s*\(([^)]*)\)\s*:", re.MULTILINE)


@dataclass
class Case:
    """One test case."""

    source: str
    hidden: bool
    points: float | None = None
    hint: str | None = None


@dataclass
class Question:
    """One question: its points and cases; `manual`: graded by hand."""

    name: str
    points: float | list[float] | None = None
    manual: bool = False
    cases: list[Case] = field(default_factory=list)

    def shares(self) -> list[float]:
        """Points of each case: their own, or the question's in equal parts (1 where none is stated)."""
        own = [case.points for case in self.cases]
        if isinstance(self.points, list) and len(self.points) == len(self.cases):
            return [float(value) for value in self.points]
        total = float(self.points) if isinstance(self.points, (int, float)) else None
        stated = sum(value for value in own if value is not None)
        if total is None:
            total = stated if all(value is not None for value in own) else max(1.0, stated)
        free = sum(value is None for value in own)
        rest = max(0.0, total - stated) / free if free else 0.0
        return [rest if value is None else value for value in own]


def is_one(path: Path) -> bool:
    """Whether a notebook is otter's."""
    notebook, _ = open_notebook(path)
    return any(_mark_of(cell) or _CHECK.search(cell.source) for cell in notebook.cells)


def take(folder: Path, path: Path) -> Assignment:
    """The assignment in `folder` whose notebook is `path`. Raises BadInput."""
    notebook, attachments = open_notebook(path)
    reader = _Reader(path, notebook, attachments)
    has_source = any(_mark_of(cell) for cell in notebook.cells)
    made = reader.source() if has_source else reader.checks(folder / "tests")
    found = Assignment(
        system="otter",
        name=path.stem,
        title=title_of(notebook, path.stem),
        notebook=made,
        attachments=reader.kept,
        solved=has_source,
        files=beside(folder, path, () if has_source else ("tests",)),
    )
    count, hidden = reader.count, reader.hidden
    found.carried(
        f"{len(reader.questions)} 题、{count} 个测试（{hidden} 个隐藏）",
        f"{len(reader.questions)} questions, {count} tests ({hidden} hidden)",
    )
    for zh, en in reader.left:
        found.left(zh, en)
    if not has_source:
        found.left(
            "学生版里没有答案：把你的解放进 samples/solution/ 并写 expect.toml，lab check 才能验证测试",
            "a students' notebook has no answers: put yours into samples/solution/ with an expect.toml for lab check",
        )
    return found


class _Reader:
    """Goes through the cells once and writes a master."""

    def __init__(self, path: Path, notebook: Notebook, attachments: dict[int, Any]) -> None:
        self.path = path
        self.notebook = notebook
        self.attachments = attachments
        self.outputs = outputs(path)
        self.cells: list[Cell] = []
        self.kept: dict[int, Any] = {}
        self.questions: list[str] = []
        self.left: list[tuple[str, str]] = []
        self.count = self.hidden = 0
        self._question: Question | None = None
        self._inside = ""
        self._answers = 0

    def source(self) -> Notebook:
        """The master of a notebook written for `otter assign`."""
        for cell in self.notebook.cells:
            mark = _mark_of(cell)
            if mark:
                self._enter(mark, cell)
            elif self._inside == "TESTS" and cell.kind == "code" and self._question is not None:
                self._case(cell, self._question)
            elif not is_otter(cell.source) or cell.kind != "code":
                self._keep(cell)
        self._leave()
        return self._made()

    def checks(self, folder: Path) -> Notebook:
        """The master of a students' notebook whose tests lie in `folder`, one file a question."""
        for cell in self.notebook.cells:
            called = _CHECK.search(cell.source) if cell.kind == "code" else None
            if called is not None:
                self._question = self._from_file(folder / f"{called[1]}.py", called[1])
                self._leave()
            elif not is_otter(cell.source) or cell.kind != "code":
                self._keep(cell, is_open=True)
        return self._made()

    def _enter(self, mark: str, cell: Cell) -> None:
        words = mark.upper().split()
        if mark.upper() == "ASSIGNMENT CONFIG":
            if "ok_format: false" in cell.source.lower():
                self.left.append(
                    (
                        "tests: ok_format: false：以函数写的测试尽量转换",
                        "function tests are converted where they can be",
                    )
                )
            return
        if words == ["BEGIN", "QUESTION"]:
            self._leave()
            self._question = _question(cell.source, len(self.questions) + 1)
            self._answers = 0
        elif words == ["END", "QUESTION"]:
            self._leave()
        self._inside = words[1] if words[0] == "BEGIN" else ""

    def _keep(self, cell: Cell, *, is_open: bool = False) -> None:
        """Keep a cell; `is_open`: without marks every code cell may be where students write."""
        question, number = self._question, len(self.cells) + 1
        if is_open and cell.kind == "code" and "..." in cell.source:
            key = f"answer-{number}"
            self.cells.append(made_cell(number, "code", cell.source, key, nbgrader=marks(key)))
            return
        if cell.kind == "raw":
            return
        is_answer = self._inside == "SOLUTION" and question is not None
        if is_answer and question is not None and cell.kind == "code" and not question.manual:
            self._answers += 1
            key = question.name if self._answers == 1 else f"{question.name}-part{self._answers}"
            self.cells.append(made_cell(number, "code", cell.source, key, nbgrader=marks(key, solution=True)))
            return
        if is_answer and question is not None:
            key = f"{question.name}-manual"
            self.cells.append(made_cell(number, cell.kind, cell.source, key, nbgrader=marks(key, solution=True)))
            return
        if cell.number in self.attachments:
            self.kept[number] = self.attachments[cell.number]
        self.cells.append(made_cell(number, cell.kind, cell.source, cell.id or f"text-{number}"))

    def _case(self, cell: Cell, question: Question) -> None:
        config = _CONFIG.match(cell.source)
        source = cell.source[config.end() :] if config else cell.source
        settings = flat(config[1]) if config else {}
        lines = source.strip("\n").split("\n")
        hidden = str(settings.get("hidden", "")).lower() == "true"
        if lines and _HIDDEN.match(lines[0]):
            hidden, lines = True, lines[1:]
        text = converted("\n".join(lines).strip("\n"), self.outputs.get(cell.number))
        if text is None:
            self.left.append(
                (
                    f"{question.name}：第 {cell.number} 个单元的测试没有保存输出或用到 env，没有带过来",
                    f"{question.name}: cell {cell.number}: a test without saved output or with env, left out",
                )
            )
            return
        points, hint = settings.get("points"), settings.get("failure_message")
        question.cases.append(
            Case(text, hidden, points if isinstance(points, float) else None, str(hint) if hint else None)
        )

    def _from_file(self, path: Path, name: str) -> Question | None:
        try:
            table = _ok_table(path)
        except (OSError, SyntaxError, ValueError) as error:
            self.left.append((f"{path.name} 读不了：{error}", f"{path.name} cannot be read: {error}"))
            return None
        points = table.get("points")
        question = Question(name, points if isinstance(points, (int, float, list)) else None)
        for suite in table.get("suites", []):
            for case in suite.get("cases", []):
                value = case.get("points")
                hint = case.get("failure_message")
                question.cases.append(
                    Case(
                        str(case.get("code", "")),
                        case.get("hidden") is True,
                        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None,
                        str(hint) if hint else None,
                    )
                )
        return question

    def _leave(self) -> None:
        question, self._question, self._inside = self._question, None, ""
        if question is None:
            return
        self.questions.append(question.name)
        if question.manual:
            self.left.append((f"{question.name} 由人评分，不计入自动评分", f"{question.name} is graded by hand"))
        elif not question.cases:
            self.left.append((f"{question.name} 没有测试", f"{question.name} has no tests"))
        for number, (case, points) in enumerate(zip(question.cases, question.shares(), strict=True), 1):
            key = f"{question.name}-{number}"
            own: dict[str, Any] = {"name": f"{question.name} ({number})", "hidden": case.hidden}
            if case.hint:
                own["hint"] = case.hint
            at = len(self.cells) + 1
            graded = marks(key, grade=True, points=round(points, 4))
            self.cells.append(made_cell(at, "code", case.source, key, nbgrader=graded, qianka=own))
            self.count, self.hidden = self.count + 1, self.hidden + case.hidden

    def _made(self) -> Notebook:
        if not self.count:
            raise BadInput(
                Text(
                    f"{self.path.name} 里没有找到 otter 的测试", f"no tests of otter's were found in {self.path.name}"
                ),
                Text("要给源 notebook，不是 dist/ 里的学生版", "give the source notebook, not the students' in dist/"),
                reason="no_tests",
            )
        language, metadata = self.notebook.language, self.notebook.metadata
        return Notebook(cells=tuple(self.cells), notes=(), language=language, version=4, metadata=metadata)


def converted(source: str, output: str | None) -> str | None:
    """A test cell as one of ours: assertions stay, expressions become a session with the output that was saved."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    function = _FUNCTION.search(source)
    if function is not None and len(body) == 1:
        names = [name.split(":")[0].split("=")[0].strip() for name in function[2].split(",") if name.strip()]
        return None if "env" in names else f"{source}\n\n{function[1]}({', '.join(names)})"
    if not body:
        return None
    prints = isinstance(body[-1], ast.Expr)
    if not prints or (output is None and any(isinstance(node, ast.Assert) for node in body)):
        return source
    return None if output is None else session(source, body, output)


def session(source: str, body: list[ast.stmt], output: str) -> str:
    """Statements as an interpreter session whose last answer is `output`."""
    if sum(isinstance(node, ast.Expr) for node in body) > 1:
        # Several things are shown: as one statement, so that their output stands together as it was saved.
        source = "if True:\n" + "\n".join(f"    {line}" for line in source.split("\n"))
        body = ast.parse(source).body
    lines = source.split("\n")
    out: list[str] = []
    for node in body:
        first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])
        part = lines[first - 1 : node.end_lineno]
        out += [("... " if at else ">>> ") + text for at, text in enumerate(part)]
        if len(part) > 1 and isinstance(node, BLOCKS):
            out.append("... ")
    return "\n".join([*out, *("<BLANKLINE>" if not line.strip() else line for line in output.split("\n"))])


def flat(text: str) -> dict[str, Any]:
    """`key: value` lines of a YAML table, and lists of numbers below a key; all else is passed over."""
    found: dict[str, Any] = {}
    last = ""
    for line in text.split("\n"):
        pair = re.match(r"^([A-Za-z_]\w*):\s*(.*?)\s*(?:\s#.*)?$", line)
        item = re.match(r"^\s*-\s*([\d.]+)\s*$", line)
        if pair:
            last = pair[1]
            found[last] = _scalar(pair[2])
        elif item and last:
            listed = found[last] if isinstance(found[last], list) else []
            found[last] = [*listed, float(item[1])]
    return found


def _scalar(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        parts = [part.strip() for part in text[1:-1].split(",") if part.strip()]
        return [float(part) for part in parts] if all(_is_text_number(part) for part in parts) else parts
    if _is_text_number(text):
        return float(text)
    return text.strip("\"'")


def _is_text_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _question(source: str, number: int) -> Question:
    table = flat(source)
    points = table.get("points")
    return Question(
        name=str(table.get("name") or f"q{number}"),
        points=points if isinstance(points, (int, float, list)) else None,
        manual=str(table.get("manual", "")).lower() == "true",
    )


def _ok_table(path: Path) -> dict[str, Any]:
    """The table `test = {…}` of a file in OK format; read, not run. Raises OSError, SyntaxError, ValueError."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "test" for t in node.targets):
            found = ast.literal_eval(node.value)
            if isinstance(found, dict):
                return found
    raise ValueError("no table called test")


def _mark_of(cell: Cell) -> str:
    """The marker that a cell is: a raw or markdown cell that begins with one."""
    found = _MARK.match(cell.source) if cell.kind in ("raw", "markdown") else None
    return found[1] if found else ""
