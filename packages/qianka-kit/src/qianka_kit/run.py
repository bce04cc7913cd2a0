"""The folder of one run: what it was started with, and its metrics as they come.

Works with no platform and without torch. On the platform QIANKA_OUT names the folder; elsewhere
it is `out` below the working directory. The file format is the contract, not this module: ten
lines of plain Python may write the same (contracts/metrics.schema.json).
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any, SupportsFloat

METRICS = "metrics.jsonl"
CONFIG = "config.json"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{0,63}")
_RESERVED = ("step", "time", "nonfinite")


class Run:
    """Records one run below `folder`; use it in a `with` block or call `close`.

    `config` (hyperparameters, `vars(args)`) is written to config.json at once, so a run that
    crashes can still be told from its neighbours.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, config: Mapping[str, Any] | None = None) -> None:
        self.folder = Path(folder or os.environ.get("QIANKA_OUT") or "out")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_config(config or {})
        # O_APPEND and one write a line: a reader that follows the file never sees half a line of ours
        # followed by another's.
        self._file = os.open(self.folder / METRICS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def log(self, step: int, **values: SupportsFloat) -> None:
        """Append one line: numbers by name at `step`. Tensors of one element are numbers too.

        JSON has neither NaN nor infinity: such a value is written as null and named in
        `nonfinite`, so a diverged loss is visible instead of breaking the reader. Raises
        ValueError for a negative step or a name that the format does not admit.
        """
        line: dict[str, Any] = {"step": _step(step), "time": round(time.time(), 3)}
        lost: dict[str, str] = {}
        for name, value in values.items():
            if name in _RESERVED or not _NAME.fullmatch(name):
                raise ValueError(f"a metric cannot be named {name!r}")
            number = _number(value)
            line[name] = number if math.isfinite(number) else None
            if not math.isfinite(number):
                lost[name] = "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
        if lost:
            line["nonfinite"] = lost
        os.write(self._file, json.dumps(line, allow_nan=False).encode() + b"\n")

    def close(self) -> None:
        """Finish; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_config(self, config: Mapping[str, Any]) -> None:
        record = {
            "format": 1,
            "config": {str(name): _plain(value) for name, value in config.items()},
            "argv": sys.argv,
            "python": platform.python_version(),
            "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        temporary = self.folder / f".{CONFIG}.new"
        temporary.write_text(json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False), "utf-8")
        temporary.replace(self.folder / CONFIG)


def _step(step: int) -> int:
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ValueError(f"step must be an integer from 0 on, not {step!r}")
    return step


def _number(value: SupportsFloat) -> float:
    # A tensor that carries a gradient warns when turned into a float; detached it does not.
    detach = getattr(value, "detach", None)
    return float(detach() if callable(detach) else value)


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it; what JSON does not know (paths, devices, NaN) becomes text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
