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
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def real(word: str, pairs: list[tuple[str, str]]) -> str:
    """`word` with a place inside at its start replaced: whole path components only (/data, not /database)."""
    for inside, outside in pairs:
        if word == inside or word.startswith(inside + "/"):
            return outside + word[len(inside) :]
    return word
