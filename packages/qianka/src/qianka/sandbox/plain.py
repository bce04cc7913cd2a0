"""Backend "none": no sandbox; the places inside are replaced by the real ones."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def places(job: dict[str, Any], out: str) -> list[tuple[str, str]]:
    """(place inside, real place), longest first."""
    pairs = [(str(mount["target"]).rstrip("/"), str(mount["source"])) for mount in job.get("mounts") or []]
    if job.get("work"):
        pairs.append(("/work", str(job["work"])))
    pairs.append(("/out", out))
    pairs += _folders_above(pairs)
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _folders_above(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """/cache above mounts /cache/NAME: real when all of them lie in one folder under their own names."""
    above: dict[str, str] = {}
    known = {inside for inside, _ in pairs}
    for inside, outside in pairs:
        parent, _, name = inside.rpartition("/")
        folder, _, own = outside.rstrip("/").rpartition("/")
        if parent and parent not in known:
            above[parent] = folder if name == own and above.get(parent, folder) == folder else ""
    return [pair for pair in above.items() if pair[1]]


def real(word: str, pairs: list[tuple[str, str]]) -> str:
    """`word` with a place inside at its start replaced: whole path components only (/data, not /database)."""
    for inside, outside in pairs:
        if word == inside or word.startswith(inside + "/"):
            return outside + word[len(inside) :]
    return word
