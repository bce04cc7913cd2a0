"""`qianka config show`: every setting, its value, and where it came from."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from qianka import settings
from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t

app = common.new_app("设置", "settings", group=True)
_SECRET = re.compile(r"\b((?:ssl)?password)=[^&]*", re.IGNORECASE)


@app.command(help=t("每项设置的值和来源", "each setting, its value and where it came from"))
def show(
    file: Annotated[Path | None, typer.Option("--file", help=t("配置文件", "the settings file"))] = None,
    json: Json = False,
) -> None:
    loaded = settings.load(file)
    rows: list[dict[str, Any]] = []
    for field in dataclasses.fields(loaded.settings):
        key = field.metadata["key"]
        text = field.metadata["text"].say(output.language())
        value = getattr(loaded.settings, field.name)
        rows.append({"key": key, "value": hidden(value), "source": loaded.sources[key], "help": text})
    if output.result(rows):
        return
    headings = [t("设置", "setting"), t("值", "value"), t("来源", "source"), t("说明", "meaning")]
    output.table(headings, [[row["key"], str(row["value"]) or '""', row["source"], row["help"]] for row in rows])


def hidden(value: object) -> object:
    """A value as it may be shown: a password inside of an address is not."""
    if not isinstance(value, str) or "://" not in value:
        return value
    scheme, mark, rest = value.partition("://")
    head, at, tail = rest.rpartition("@")
    if at:
        user, colon, _ = head.partition(":")
        rest = f"{user}:***@{tail}" if colon else f"***@{tail}"
    return scheme + mark + _SECRET.sub(r"\1=***", rest)
