"""Reading what Slurm's commands print. Pure.

Only columns are asked for that no user writes: a job's name or comment may hold anything, line breaks too,
and would forge other jobs' lines. Instants come as seconds (SLURM_TIME_FORMAT=%s).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qianka.engines.slurm.models import Line, Machine, Used

SQUEUE = "%i|%T|%r|%S|%V|%N|%u|%C|%Q|%P"
SACCT = "JobID,State,ExitCode,Submit,Start,End,ElapsedRaw,TotalCPU,AllocCPUS,AllocTRES,MaxRSS,NodeList"
SINFO = "%N|%c|%m|%G|%T"
MIB = 1 << 20

_ID = re.compile(r"\d+(?:_\d+)?")
_STEP = re.compile(r"(\d+(?:_\d+)?)\.\S+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)")
_UNITS = {"": 1, "K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}
_CARDS = re.compile(r"gpu(?::([^:(,]+))?:(\d+)")


def submitted(text: str) -> str:
    """The id in `sbatch --parsable`'s answer (`12` or `12;cluster`). Raises ValueError."""
    lines = text.strip().splitlines()
    found = lines[-1].split(";")[0] if lines else ""
    if not found.isdecimal():
        raise ValueError(f"{text!r} is no answer of sbatch")
    return found


def jobs(text: str) -> dict[str, Line]:
    """The jobs of `squeue -h -r -o SQUEUE`, by id; a line of another form is passed over."""
    found = {}
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) != 10 or not _ID.fullmatch(parts[0]):
            continue
        found[parts[0]] = Line(
            id=parts[0],
            state=parts[1],
            reason=parts[2],
            start=instant(parts[3]),
            submit=instant(parts[4]),
            nodes=parts[5],
            user=parts[6],
            cpus=_whole(parts[7]),
            priority=_whole(parts[8]),
            partition=parts[9],
        )
    return found


def used(text: str) -> dict[str, Used]:
    """The jobs of `sacct -P -n -o SACCT`, by id; the largest memory of a job's steps goes with the job.

    A job that was requeued has several lines (`-D`); the last one counts.
    """
    found: dict[str, Used] = {}
    peaks: dict[str, int] = {}
    full: set[str] = set()
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) != 12:
            continue
        if _ID.fullmatch(parts[0]):
            found[parts[0]] = _used(parts)
        elif step := _STEP.fullmatch(parts[0]):
            peak = size(parts[10])
            if peak:  # 0: it ended before anybody looked
                peaks[step[1]] = max(peaks.get(step[1], 0), peak)
            if parts[1] == "OUT_OF_MEMORY":
                full.add(step[1])
    return {key: _with_steps(one, peaks.get(key), key in full) for key, one in found.items()}


def machines(text: str) -> list[Machine]:
    """The nodes of `sinfo -h -N -o SINFO`, each once (one in several partitions has several lines)."""
    found: dict[str, Machine] = {}
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) != 5 or parts[0] in found:
            continue
        gpus, model = _cards(parts[3])
        memory = _whole(parts[2].rstrip("+")) * MIB
        found[parts[0]] = Machine(
            name=parts[0],
            cpus=_whole(parts[1].rstrip("+")),
            memory=memory,
            gpus=gpus,
            model=model,
            state=parts[4].lower(),
        )
    return list(found.values())


def instant(text: str) -> float | None:
    """Seconds since 1970; None for N/A, Unknown, None and what is no number."""
    return float(text) if text.isdecimal() else None


def seconds(text: str) -> float | None:
    """`[D-]HH:MM:SS` or `MM:SS.mmm` as seconds; None for what is neither."""
    days, _, rest = text.strip().rpartition("-")
    parts = rest.split(":")
    try:
        total = 0.0
        for part in parts:
            total = total * 60 + float(part)
        return total + (int(days) * 86400 if days else 0)
    except ValueError:
        return None


def size(text: str) -> int | None:
    """`51672K` as bytes; None for an empty one."""
    match = _SIZE.fullmatch(text.strip())
    return None if match is None else int(float(match[1]) * _UNITS[match[2]])


def _used(parts: list[str]) -> Used:
    state, _, by = parts[1].partition(" by ")
    code, _, signal = parts[2].partition(":")
    tres = dict(_pairs(parts[9].split(",")))
    return Used(
        id=parts[0],
        state=state,
        by=by or None,
        code=_whole(code),
        signal=_whole(signal),
        submit=instant(parts[3]),
        start=instant(parts[4]),
        end=instant(parts[5]),
        elapsed=float(_whole(parts[6])),
        cpu=seconds(parts[7]),
        cpus=_whole(tres.get("cpu", parts[8])),
        gpus=_whole(tres.get("gres/gpu", "0")),
        nodes=parts[11] if parts[11] != "None assigned" else "",
    )


def _with_steps(one: Used, peak: int | None, full: bool) -> Used:
    # A script whose step was killed for its memory ends FAILED by the exit code of srun.
    state = "OUT_OF_MEMORY" if full and one.state == "FAILED" else one.state
    return replace(one, memory=peak, state=state)


def _pairs(items: Iterable[str]) -> Iterator[tuple[str, str]]:
    for item in items:
        name, equals, value = item.partition("=")
        if equals:
            yield name, value


def _cards(text: str) -> tuple[int, str]:
    """(count, model) of `gpu:a100:8(S:0-1),shard:4`; the model that most cards have."""
    found = [(int(match[2]), match[1] or "gpu") for match in _CARDS.finditer(text)]
    return sum(count for count, _ in found), max(found, default=(0, ""))[1]


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() else 0
