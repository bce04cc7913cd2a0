"""`qianka data get`: a data set into the platform's cache; everything else about data is the kit's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import NotFound, Text

app = common.new_app("数据集", "data sets", group=True)


@app.command(
    help=t("把数据集取到平台的缓存里，如 mnist-10k", "fetch a data set into the platform's cache, such as mnist-10k")
)
def get(
    name: Annotated[str, typer.Argument(help=t("数据集", "the data set"))],
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help=t("数据目录", "data directory"))] = None,
    json: Json = False,
) -> None:
    from qianka.adapters import datasets

    found = common.load_settings()
    root = Path(found.data_dir) if data_dir is None else data_dir
    cache = root / "cache"
    for folder in (root, cache):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    place = datasets.provide(name, cache, mnist_url=found.mirror_mnist, say=output.note)
    if os.geteuid() == 0:
        _give(place, root)
    if not output.result({"name": name, "path": place}):
        output.say(Text(f"{name} 在 {place}", f"{name} is in {place}"))


@app.command(
    "kit",
    help=t("交给教学包：python -m qianka_kit data …", "hand over to the kit: python -m qianka_kit data …"),
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def kit(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    from importlib.util import find_spec

    if find_spec("qianka_kit") is None:
        raise NotFound(
            Text("没有装教学包 qianka-kit", "the kit qianka-kit is not installed"),
            Text("运行 pip install qianka-kit", "run pip install qianka-kit"),
        )
    raise typer.Exit(subprocess.call([sys.executable, "-m", "qianka_kit", "data", *(words or [])]))


def _give(place: Path, root: Path) -> None:
    """What root fetched belongs to whoever owns the data directory."""
    owner = root.stat()
    for path in [place.parent, place, *place.rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
