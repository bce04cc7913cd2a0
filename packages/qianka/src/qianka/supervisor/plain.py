"""Backend "none": the run is started at the real places, nothing is held back but by the bounds."""

from __future__ import annotations

import os
import sys

from qianka.sandbox import environment, plain
from qianka.supervisor.child import Start
from qianka.supervisor.plan import Plan
from qianka.supervisor.volume import Volume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.options import Options
    from qianka.supervisor.rights import Rights


def plain_plan(job: dict[str, Any], fence: dict[str, Any], options: Options, rights: Rights) -> Plan:
    """How the run is started."""
    volume = Volume(options.directory, "folder", job["limits"], rights, options.out)
    out = volume.open_folder(None)
    pairs = plain.places(job, out)
    name = "tmp" if options.out is None else "peer-tmp"
    temporary = os.path.join(options.directory, "runs", str(options.run), name)
    os.mkdir(temporary, 0o700)
    words = environment.variables(job, options.run, fence.get("cards") or [], temporary=temporary, out=out)
    argv = [plain.real(word, pairs) for word in job["argv"]]
    if argv[0] == "python" and not job["runtime"]:
        argv[0] = sys.executable
    path = _on_path(argv[0], words["PATH"])
    start = Start(path, argv, {key: plain.real(value, pairs) for key, value in words.items()})
    start.cwd = plain.real(job["cwd"], pairs)
    plan = Plan(start, volume)
    plan.missing = ["isolation"]
    plan.temporary = temporary
    return plan


def _on_path(program: str, path: str) -> str:
    if "/" in program:
        return program
    for folder in path.split(":"):
        if os.access(f"{folder}/{program}", os.X_OK):
            return f"{folder}/{program}"
    return program
