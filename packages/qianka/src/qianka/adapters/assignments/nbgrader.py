"""nbgrader: an assignment's folder below source/, its notebook marked by cell metadata and comment lines.

https://nbgrader.readthedocs.io/en/stable/user_guide/creating_and_grading_assignments.html
"""

from __future__ import annotations

from pathlib import Path

from qianka.adapters.assignments.source import Assignment, beside, open_notebook, title_of
from qianka.notebooks.master import understand

CONFIG = ("nbgrader_config.py", "gradebook.db", "feedback", "release", "submitted", "autograded")


def is_one(path: Path) -> bool:
    """Whether a notebook carries nbgrader's metadata."""
    notebook, _ = open_notebook(path)
    return any(cell.nbgrader for cell in notebook.cells)


def take(folder: Path, path: Path) -> Assignment:
    """The assignment in `folder` whose notebook is `path`. Raises BadInput."""
    notebook, attachments = open_notebook(path)
    master = understand(notebook)
    found = Assignment(
        system="nbgrader",
        name=path.stem,
        title=title_of(notebook, path.stem),
        notebook=notebook,
        attachments=attachments,
        files={name: file for name, file in beside(folder, path).items() if name.split("/")[0] not in CONFIG},
    )
    hidden = sum(test.hidden for test in master.tests)
    found.carried(
        f"{len(master.tests)} 个测试单元（{hidden} 个含隐藏测试），共 {master.points:g} 分",
        f"{len(master.tests)} test cells ({hidden} with hidden tests), {master.points:g} points",
    )
    for own in master.cells:
        if own.role == "manual":
            points = own.cell.nbgrader.get("points", 0)
            found.left(
                f"第 {own.cell.number} 个单元 {own.key} 由人评分（{points} 分），不计入自动评分",
                f"cell {own.cell.number}, {own.key}, is graded by hand ({points} points): left out",
            )
    if (folder / "nbgrader_config.py").is_file() or (folder.parent.parent / "nbgrader_config.py").is_file():
        found.left(
            "nbgrader_config.py 没有读取：自定义的标记、占位文字、迟交规则要自己写进 lab.toml",
            "nbgrader_config.py is not read: own markers, stubs and late rules have to be written into lab.toml",
        )
    return found
