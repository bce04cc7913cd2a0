"""`qianka receipt verify`: offline, and without anything of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t

app = common.new_app("回执", "receipts", group=True)
