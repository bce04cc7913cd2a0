"""`qianka receipt`: verify one offline, without anything of the server; fetch one again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from qianka import receipts
from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.client import archive
from qianka.client.credentials import write_private
from qianka.errors import NotFound, Text

app = common.new_app("回执：验证、重新获取", "receipts: verify, fetch again", group=True)


@app.command(help=t("验证回执，不用联网", "verify a receipt without a network"))
def verify(
    file: Annotated[Path, typer.Argument(help=t("回执文件", "the receipt"))],
    against: Annotated[
        Path | None,
        typer.Option("--against", help=t("再与这个文件夹里的文件比对", "compare it with the files of a folder")),
    ] = None,
    json: Json = False,
) -> None:
    wallet = common.wallet()
    found = receipts.verify_file(_read(file), wallet.known_keys())
    known = wallet.known_key(found.key_id)
    changes = [] if against is None else receipts.differences(found.body, _hashes(against))
    words = [change.say(output.language()) for change in changes]
    shown = {"valid": True, "trusted": found.is_trusted, "key_id": found.key_id, "differences": words}
    shown["platform"] = None if known is None else known.address
    if not output.result({**shown, "body": found.body}):
        _tell(found, None if known is None else known.address, words)
    if changes:
        raise typer.Exit(7)


@app.command(help=t("从平台重新取一份回执", "fetch a receipt from the platform again"))
def show(
    submission: Annotated[str, typer.Argument(help=t("提交编号", "id of the hand-in"))],
    save: Annotated[Path | None, typer.Option("--output", "-o", help=t("存到文件", "save to a file"))] = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        text = client.receipt(submission)
    if save is None:
        output.write(text)
        return
    write_private(save, text)
    if not output.result({"file": save}):
        output.say(Text(f"回执已存到 {save}", f"the receipt is in {save}"))


def _tell(found: receipts.Verified, address: str | None, differences: list[str]) -> None:
    body = found.body
    if found.is_trusted:
        output.say(Text("回执有效，没有被改动", "the receipt is genuine and unchanged"))
        output.say(
            Text(
                f"  由你登录过的平台 {address} 签发（{found.key_id}）",
                f"  signed by {address}, where you signed in ({found.key_id})",
            )
        )
    else:
        output.say(Text("内容与签名相符，但不知道是谁签的", "unchanged since it was signed, but it is unknown by whom"))
        output.say(
            Text(
                f"  签名密钥 {found.key_id} 不在已知平台之列：登录该平台后再验证，才知道是不是它签的",
                f"  the key {found.key_id} belongs to no platform you know: sign in there and verify again",
            )
        )
    rows = [
        (t("提交", "hand-in"), body["submission"]),
        (t("实验", "lab"), f"{body['cohort']} / {body['lab']}"),
        (t("提交人", "by"), body["person"]["login"]),
        (t("时间 (UTC)", "time (UTC)"), body["submitted_at"]),
        (t("文件", "file"), f"{body['filename']}  {body['size']} B  sha256 {body['archive_sha256']}"),
    ]
    for name, value in rows:
        output.say(f"  {name}: {value}")
    for words in differences:
        output.say(f"  ! {words}")


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError as error:
        raise NotFound(Text(f"没有文件 {file}", f"there is no file {file}")) from error
    except UnicodeDecodeError:
        return ""  # not text: verify_file says what it is not


def _hashes(folder: Path) -> list[dict[str, str]]:
    names = sorted(archive.files(folder))
    return [
        {"path": path.relative_to(folder).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in names
    ]
