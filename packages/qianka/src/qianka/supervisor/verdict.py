"""What a run ended with: state and reason, from what was seen of it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATES = {
    "timeout_wall": "TIMEOUT",
    "timeout_cpu": "TIMEOUT",
    "out_of_memory": "OUT_OF_MEMORY",
    "cancelled": "CANCELLED",
    "output_limit": "FAILED",
    "disk_full": "FAILED",
}
SIGXCPU = 24


class Seen:
    """All that is known when a run is over."""

    def __init__(self) -> None:
        self.stop: dict[str, Any] | None = None
        """the reason for which the supervisor ended it"""
        self.code: int | None = None
        """exit code of the command"""
        self.signal: int | None = None
        """signal that ended it"""
        self.contained = False
        """run by a sandbox that tells whether it came to be"""
        self.told_exit = False
        """the sandbox reported the command's end"""
        self.complaint = ""
        """what the sandbox said when the command never began"""
        self.oom_kills = 0
        self.forks_denied = 0
        self.disk_full = False
        self.memory_limit = 0
        self.memory_peak: int | None = None
        self.cpu_limit: float | None = None
        self.cpu: float | None = None
        self.processes_limit = 0
        self.disk_limit = 0


def decide(seen: Seen) -> tuple[str, dict[str, Any] | None]:
    """(state, reason). NODE_FAIL is a fault of the platform or the machine, never the program's."""
    if seen.stop is not None:
        return STATES[seen.stop["code"]], seen.stop
    if seen.oom_kills:
        return "OUT_OF_MEMORY", reason("out_of_memory", seen.memory_limit, seen.memory_peak)
    if seen.contained and not seen.told_exit:
        return _uncontained(seen)
    if seen.code == 0:
        return "COMPLETED", None
    if seen.signal == SIGXCPU:
        return "TIMEOUT", reason("timeout_cpu", seen.cpu_limit, seen.cpu)
    if seen.disk_full:
        return "FAILED", reason("disk_full", seen.disk_limit, None)
    if seen.forks_denied:
        return "FAILED", reason("process_limit", seen.processes_limit, None)
    return "FAILED", None


def reason(code: str, limit: float | None = None, measured: float | None = None, text: str | None = None) -> Any:
    """As it stands in a result; `limit` and `measured` in the unit of the limit (s, bytes, processes)."""
    return {"code": code, "limit": limit, "measured": measured, "text": text}


def _uncontained(seen: Seen) -> tuple[str, dict[str, Any] | None]:
    """The sandbox did not report an end: it was killed, the command could not be started, or it was never made."""
    if seen.signal is not None:
        return "NODE_FAIL", reason("lost", text=f"the sandbox was ended from outside by signal {seen.signal}")
    if "execvp" in seen.complaint:
        seen.code = 127
        return "FAILED", reason("spawn", text=seen.complaint)
    return "NODE_FAIL", reason("sandbox", text=seen.complaint or "the sandbox did not come to be")
