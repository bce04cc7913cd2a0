"""`qianka runtime build`: the environment that student code runs in, apart from the platform's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.errors import Text

app = common.new_app("学生运行环境", "the student runtime", group=True)


@app.command(
    help=t(
        "建立或更新学生运行环境；没有变化时立即返回", "make or renew the student runtime; quick when nothing changed"
    )
)
def build(
    target: Annotated[Path | None, typer.Option("--target", help=t("位置", "where"))] = None,
    python: Annotated[str | None, typer.Option("--python", help=t("所用的解释器", "the interpreter to use"))] = None,
    cards: Annotated[bool, typer.Option("--cards", help=t("有显卡：装带 CUDA 的 torch", "with CUDA"))] = False,
    json: Json = False,
) -> None:
    from qianka.adapters import runtime

    found = common.load_settings()
    place = Path(found.runtime_dir) if target is None else target.absolute()
    index = found.mirror_torch_cuda if cards else found.mirror_torch_cpu
    made = runtime.build(place, python=python, torch_index=index, say=output.note, cards=cards)
    shown: dict[str, Any] = {
        "path": made.path,
        "python": made.version,
        "torch": made.torch,
        "cuda": made.cuda,
        "source": made.source,
    }
    if not output.result(shown):
        output.say(
            Text(f"学生环境：{made.path}，torch {made.torch}", f"student runtime: {made.path}, torch {made.torch}")
        )
