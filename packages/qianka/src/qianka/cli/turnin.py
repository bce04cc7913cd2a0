"""`qianka turnin`: hand in a folder or archive, keep the receipt, follow the grading."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qianka.cli import common, following, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.output import t
from qianka.client import archive
from qianka.client.credentials import write_private
from qianka.errors import NotFound, Text, TooLarge

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.schemas.submissions import HandedIn

app = common.new_app("提交实验", "hand in a lab")

UNPACKED = 500_000_000
"""bytes of a folder above which nobody means to hand it in"""


@app.command(
    help=t("提交一个文件夹或压缩包，保存回执，跟随评分", "hand in a folder or archive, keep the receipt, follow")
)
def turnin(
    lab: Annotated[str, typer.Argument(help=t("实验", "the lab"))],
    path: Annotated[Path, typer.Argument(help=t("文件夹或压缩包", "folder or archive"))] = Path("."),
    cohort: CohortOption = None,
    follow: Annotated[
        bool | None, typer.Option("--follow/--no-follow", help=t("等到评分结束", "wait for the result"))
    ] = None,
    receipts: Annotated[Path, typer.Option("--receipts", help=t("回执存放目录", "folder for receipts"))] = Path("."),
    json: Json = False,
) -> None:
    with common.client() as client, tempfile.TemporaryDirectory(prefix="qianka-") as folder:
        slug = common.one_cohort(client, cohort)
        file, name = packed(path, Path(folder))
        limit = client.health().upload_limit
        size = file.stat().st_size
        if limit is not None and size > limit:
            raise TooLarge(
                Text(
                    f"压缩后 {size / 1e6:.1f} MB，上限 {limit / 1e6:.0f} MB",
                    f"{size / 1e6:.1f} MB packed, the limit is {limit / 1e6:.0f} MB",
                ),
                Text("去掉数据和模型权重", "leave out data and weights"),
            )
        with output.progress("上传", "uploading", size) as bar:
            handed = client.hand_in(slug, lab, file, filename=name, progress=bar)
        kept = _keep(handed, receipts)
        _tell(handed, kept)
        _finish(client, handed, kept, wait=output.is_live() if follow is None else follow)


def packed(path: Path, scratch: Path) -> tuple[Path, str]:
    """The archive to send and its name: an archive as it is, a folder zipped without litter."""
    if not path.exists():
        raise NotFound(Text(f"没有 {path}", f"there is no {path}"))
    if path.is_file():
        return path, path.name
    target = scratch / "handin.zip"
    archive.pack(path, target, UNPACKED)
    return target, f"{path.absolute().name or 'handin'}.zip"


def _keep(handed: HandedIn, folder: Path) -> Path | None:
    """Save the receipt; an invalid hand-in has none."""
    if handed.receipt is None:
        return None
    kept = folder / f"{handed.submission.lab}-{handed.submission.id}.receipt.json"
    write_private(kept, handed.receipt)
    return kept


def _tell(handed: HandedIn, kept: Path | None) -> None:
    submission = handed.submission
    if kept is not None:
        output.say(Text(f"已提交：{submission.id}", f"handed in: {submission.id}"))
        output.say(Text(f"  回执：{kept}", f"  receipt: {kept}"))
    if submission.late:
        output.say(Text("  已过截止时间，按迟交计", "  after the deadline: it counts as late"))
    for words in submission.notes:
        output.say(f"  · {words}")


def _finish(client: Client, handed: HandedIn, kept: Path | None, *, wait: bool) -> None:
    submission, attempt = handed.submission, handed.attempt
    if attempt is not None and wait:
        attempt = following.follow(client, attempt.id, following.Teller())
    shown: dict[str, Any] = {"submission": submission, "receipt_file": kept, "attempt": attempt}
    if not output.result({key: _dumped(value) for key, value in shown.items()}) and attempt is not None:
        if attempt.state in following.ENDED:
            following.show(attempt)
        else:
            output.say("  " + following.where(attempt))
            output.say(Text("  用 qianka grades 查看结果", "  see the result with qianka grades"))
    if submission.refusal is not None:
        output.say(Text(f"没有评分：{submission.refusal.message}", f"not graded: {submission.refusal.message}"))
        if submission.refusal.hint:
            output.say("  " + submission.refusal.hint)
        raise typer.Exit(7)


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
