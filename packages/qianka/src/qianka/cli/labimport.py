"""`qianka lab import`: an assignment of nbgrader's or otter's as a lab folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qianka.cli import output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import NotFound, Text

HELP = t("把 nbgrader 或 otter 的作业做成实验文件夹", "make a lab folder of an nbgrader or otter assignment")


def import_(
    folder: Annotated[
        Path,
        typer.Argument(
            help=t("作业文件夹（如 source/ps1）或源 notebook", "its folder (source/ps1) or source notebook")
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help=t("新实验文件夹", "the new lab's folder"))],
    notebook: Annotated[
        str | None, typer.Option("--notebook", help=t("文件夹里有多个时选一个", "which one, where there are several"))
    ] = None,
    json: Json = False,
) -> None:
    """Read the assignment, write the lab, say what was not carried over."""
    from qianka.adapters import assignments

    if not folder.exists():
        raise NotFound(Text(f"没有 {folder}", f"there is no {folder}"), reason="no_folder")
    made = assignments.make(folder, to, notebook)
    shown = {
        "system": made.system,
        "title": made.title,
        "points": made.points,
        "files": list(made.files),
        "carried": [one.text._asdict() for one in made.remarks if one.carried],
        "not_carried": [one.text._asdict() for one in made.remarks if not one.carried],
    }
    if output.result(shown):
        return
    output.say(Text(f"{made.title}（{made.system}）→ {to}", f"{made.title} ({made.system}) → {to}"))
    for one in made.remarks:
        output.say(f"  {'✓' if one.carried else '!'} {one.text.say(output.language())}")
    output.say(Text(f"下一步：qianka lab check {to}", f"next: qianka lab check {to}"))
