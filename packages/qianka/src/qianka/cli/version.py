"""`qianka version`."""

from __future__ import annotations

import platform
from importlib.metadata import version as version_of

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t

app = common.new_app("版本", "version")


@app.command(help=t("版本", "version"))
def version(json: Json = False) -> None:
    found = {"qianka": version_of("qianka"), "python": platform.python_version()}
    if not output.result(found):
        output.say(f"qianka {found['qianka']} (Python {found['python']})")
