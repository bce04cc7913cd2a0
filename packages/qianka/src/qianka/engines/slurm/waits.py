"""Why a job waits in Slurm, as one of our codes; their texts stand with all others in services.jobs.reasons."""

from __future__ import annotations

import re
from typing import Any

from qianka.engines.slurm.models import Line

_CODES = (
    (r"Resources", "slurm_resources"),
    (r"Priority", "slurm_priority"),
    (r"(?:Assoc|QOS)\w*(?:Minutes|Mins)\w*|\w*BillingMinutes|AssocGrpGRESMinutes", "slurm_budget"),
    (r"(?:Assoc|QOS)\w*", "slurm_limit"),
    (r"Dependency\w*", "slurm_dependency"),
    (r"BeginTime", "slurm_begin"),
    (r"JobHeld\w*|\w*Held\w*|Deadline", "slurm_held"),
    (r"Partition\w*", "slurm_partition"),
    (r"Req[_ ]?Node\w*.*|ReqNodeNotAvail.*|NodeDown|.*(?:down|drained|reserved).*", "slurm_nodes"),
    (r"Licenses", "slurm_licences"),
    (r"Reservation\w*", "slurm_reservation"),
    (r"BadConstraints", "slurm_constraints"),
    (r"None|", "slurm_new"),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), code) for pattern, code in _CODES)


def reason_of(line: Line, ranks: dict[str, int]) -> dict[str, Any]:
    """{"code", "text" (Slurm's word), "ahead" (jobs that wait before it), "starts" (seconds since 1970 or None)}."""
    word = line.reason.strip()
    code = next((code for pattern, code in _PATTERNS if pattern.fullmatch(word)), "slurm_waits")
    return {"code": code, "text": word[:100], "ahead": ranks.get(line.id, 0), "starts": line.start}


def ranks(jobs: dict[str, Line]) -> dict[str, int]:
    """By id, how many jobs wait before it in its partition: a higher priority, or the same and an older one."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    waiting = [line for line in jobs.values() if line.state == "PENDING"]
    for line in sorted(waiting, key=lambda one: (-one.priority, one.submit or 0.0, int(one.id.split("_")[0]))):
        found[line.id] = counts.get(line.partition, 0)
        counts[line.partition] = found[line.id] + 1
    return found
