"""What engines over job directories share: moving the fence, the record of a run that never began, reading an end."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

from qianka import jobdir
from qianka.domain.jobs import JobState
from qianka.engines.base import Handle, Status
from qianka.errors import PlatformFault, Text, Unavailable
from qianka.jobdir import FormatError


def move_fence(directory: str, fence: dict[str, Any]) -> None:
    """Raises PlatformFault when a later run has begun: who asks has been overtaken by another worker."""
    present = jobdir.read_fence(directory)
    if present is not None and present.get("run", 0) > fence["run"]:
        raise PlatformFault(
            Text("已有更新的一次运行", f"run {present['run']} has begun already; run {fence['run']} is too late")
        )
    if present != fence:
        jobdir.set_fence(directory, fence)


def never_began(handle: Handle) -> dict[str, Any]:
    """result.json of a run that was cancelled before it began."""
    now = datetime.now(timezone.utc).isoformat()
    return {
        "format": 1,
        "job": handle.job,
        "run": handle.run,
        "state": JobState.CANCELLED.value,
        "exit_code": None,
        "signal": None,
        "reason": {"code": "cancelled", "limit": None, "measured": None, "text": None},
        "started_at": now,
        "ended_at": now,
        "wall": 0.0,
        "cpu": None,
        "peak_memory": None,
        "peak_card_memory": None,
        "gpu_seconds": 0.0,
        "cpu_seconds": 0.0,
        "node": os.uname().nodename,
        "isolation": "none",
        "missing": [],
        "measured": {},
        "output": {"stdout": 0, "stderr": 0},
        "out": {"files": 0, "bytes": 0, "refused": []},
        "cores": [],
        "threads": 1,
        "left_after": 0,
        "pids_denied": 0,
        "disturbed": None,
    }


def ended(directory: str, handle: Handle) -> Status | None:
    """The end that is written down; NODE_FAIL for one that cannot be read."""
    try:
        result = jobdir.read_result(directory, handle.run)
        if result is None:
            return None
        state = JobState(result["state"])
        if not state.ended:
            raise FormatError(f"{state.value} is no end")
    except (FormatError, KeyError, ValueError) as error:
        # Nothing unreadable may become a grade: the run counts as lost.
        return Status(state=JobState.NODE_FAIL, detail=f"its result cannot be read: {error}")
    return Status(state=state, result=result)


def unreadable(error: OSError) -> Unavailable:
    """The disk does not answer."""
    return Unavailable(
        Text(f"任务目录读写不了：{error}", f"the job directories cannot be read or written: {error}"),
        Text("检查磁盘和数据目录的权限", "look at the disk and the rights of the data directory"),
    )
