"""`qianka check`: what the grader would say, before handing in, by the grader's own code on a small public test."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Annotated

import typer

from qianka.cli import common, following, output, trial
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t
from qianka.errors import NotFound, Text

app = common.new_app("提交前检查", "check a hand-in first")

IsolationOption = Annotated[
    str,
    typer.Option(
        "--isolation",
        help=t(
            "auto、bubblewrap、podman、docker；没有沙箱的机器用 none 跑自己的代码",
            "auto, bubblewrap, podman, docker; none: your own code where there is no sandbox",
        ),
    ),
]


@app.command(
    help=t(
        "必交文件、风格和一次小的公开测试，用评分程序本身",
        "required files, style and a small public run, by the grader itself",
    )
)
def check(
    path: Annotated[Path, typer.Argument(help=t("文件夹或压缩包", "folder or archive"))] = Path("."),
    lab: Annotated[
        str | None, typer.Option("--lab", help=t("实验代号（从平台取）或实验文件夹", "name of a lab, or its folder"))
    ] = None,
    cohort: CohortOption = None,
    isolation: IsolationOption = "auto",
    json: Json = False,
) -> None:
    if not path.exists():
        raise NotFound(Text(f"没有 {path}", f"there is no {path}"))
    with tempfile.TemporaryDirectory(prefix="qianka-", ignore_cleanup_errors=True) as scratch:
        folder, slug = _lab_folder(lab, path, cohort, Path(scratch) / "lab")
        platform = trial.start(Path(scratch), isolation)
        try:
            one = trial.Trial(platform)
            one.publish(folder, slug, practice=True)
            handed = one.hand_in(path, "check")
            attempts = [] if handed.attempt is None else [handed.attempt.id]
            ended = one.follow(attempts, following.Teller())
        finally:
            platform.stop()
    attempt = next(iter(ended.values()), None)
    refusal = handed.submission.refusal
    shown = {
        "accepted": refusal is None,
        "refusal": None if refusal is None else refusal.model_dump(mode="json"),
        "notes": handed.submission.notes,
        "attempt": None if attempt is None else attempt.model_dump(mode="json"),
    }
    if not output.result(shown):
        for words in handed.submission.notes:
            output.say(f"· {words}")
        if refusal is not None:
            output.say(Text(f"不会被接收：{refusal.message}", f"would be refused: {refusal.message}"))
            output.say(f"  {refusal.hint or ''}")
        if attempt is not None:
            following.show(attempt)
            output.say(
                Text(
                    "这是小的公开测试；正式评分用隐藏的测试数据，分数会不同",
                    "this was the small public test; grading uses hidden data, and points will differ",
                )
            )
    if refusal is not None or attempt is None or attempt.verdict != "accepted":
        raise typer.Exit(7)


def _lab_folder(given: str | None, path: Path, cohort: str | None, scratch: Path) -> tuple[Path, str]:
    """The lab to check by and its name: a folder, one above the hand-in, or the platform's public version."""
    if given is not None and (Path(given) / "lab.toml").is_file():
        folder = Path(given).absolute()
        return folder, _slug(folder.name)
    if given is None:
        here = path.absolute()
        for folder in [here, *here.parents]:
            if (folder / "lab.toml").is_file():
                return folder, _slug(folder.name)
    with common.client() as client:
        slug = common.one_cohort(client, cohort)
        name = given or _only_lab([one.slug for one in client.labs(slug)])
        scratch.mkdir(parents=True)
        file = scratch / "public.zip"
        client.public_lab(slug, name, file)
    with zipfile.ZipFile(file) as packed:  # made by the platform one is signed in to
        packed.extractall(scratch / name)
    return scratch / name, name


def _only_lab(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    listed = "、".join(names) or "-"
    raise NotFound(
        Text("不知道按哪个实验检查", "which lab is it to be checked by?"),
        Text(f"用 --lab 指定：{listed}", f"name it with --lab: {listed}"),
        reason="which_lab",
    )


def _slug(name: str) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()).strip("-")
    return plain[:60] or "lab"
