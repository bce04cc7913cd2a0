"""The environment a run starts with: nothing of the service's own, threads set to the CPU quota."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def threads(cpus: float) -> int:
    """How many computing threads a quota of `cpus` cores feeds: torch looks at cores, never at quotas,
    and is 1.7 times slower when its spinning threads eat the quota."""
    return max(1, int(cpus))


def variables(
    job: dict[str, Any], run: int, cards: list[dict[str, Any]], *, temporary: str, out: str
) -> dict[str, str]:
    """The variables of a run. `temporary` and `out`: the folders as the run sees them."""
    runtime = job.get("runtime")
    set_: dict[str, str] = {
        "PATH": (f"{runtime}/bin:" if runtime else "") + "/usr/bin:/bin",
        "HOME": temporary,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "QIANKA_OUT": out,
        "QIANKA_JOB": str(job["job"]),
        "QIANKA_RUN": str(run),
    }
    count = str(threads(job["resources"]["cpus"]))
    set_.update(dict.fromkeys(THREADS, count))
    real = [str(card["uuid"]) for card in cards if not card.get("simulated")]
    simulated = [f"{card['model']}:{card['memory']}" for card in cards if card.get("simulated")]
    # Empty hides all cards; which nodes of /dev are bound is what really decides.
    set_["CUDA_VISIBLE_DEVICES"] = ",".join(real)
    if simulated:
        set_["QIANKA_SIMULATED_CARDS"] = ",".join(simulated)
    set_.update({str(key): str(value) for key, value in (job.get("environment") or {}).items()})
    return set_
