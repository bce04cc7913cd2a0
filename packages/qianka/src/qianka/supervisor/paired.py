"""A run of two sandboxes with one socket between them: ours, and the peer's.

Ours decides when the run is over, and its end is the run's. What becomes of the peer is told beside it and is
never ours: a peer that dies is seen by our side as the end of the stream.
"""

from __future__ import annotations

from _socket import AF_UNIX, SOCK_STREAM, socketpair

from qianka.jobdir import spec
from qianka.supervisor.main import complete, conclude, let_go, prepare, start
from qianka.supervisor.plan import Plan, Unfit
from qianka.supervisor.result import Outcome, figures_of
from qianka.supervisor.verdict import decide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from qianka.supervisor.options import Options
    from qianka.supervisor.rights import Rights
    from qianka.supervisor.watch import Watch

    Side = tuple[dict[str, Any], dict[str, Any], Options]
    """job, fence and options of one side"""

VARIABLE = "QIANKA_SOCKET"
"""tells each side the number of its end's descriptor"""
LEAVING = 0.5
"""seconds that a peer gets to leave by itself once our side has ended"""


def supervise_pair(
    job: dict[str, Any],
    fence: dict[str, Any],
    options: Options,
    rights: Rights,
    wake: int,
    outcome: Outcome,
    known: dict[str, Any],
) -> None:
    """Run both sides to the end of ours. Raises Unfit, SpawnError, OSError, as a run of one does."""
    ours, theirs = spec.sides(job)
    # Cards are for the student's code; ours computes nothing.
    sides: list[Side] = [(ours, {**fence, "cards": []}, options), (theirs, fence, options.for_peer())]
    plans: list[Plan] = []
    watches: list[Watch] = []
    try:
        for (side, placed, chosen), end in zip(sides, socketpair(AF_UNIX, SOCK_STREAM, 0), strict=True):
            descriptor = end.detach()
            side["environment"] = {**side["environment"], VARIABLE: str(descriptor)}
            plans.append(prepare(side, placed, chosen, rights, outcome, known))
            plans[-1].hand_over(descriptor)
        for (side, placed, chosen), plan in zip(sides, plans, strict=True):
            watches.append(start(side, placed, chosen, rights, plan, outcome))
        main, peer = watches
        peer.outlives_memory = True
        main.until_end(wake, peer)
        peer.leave(LEAVING)
        main.finish()
        peer.finish()
    finally:
        for watch in watches:
            if watch.ended is None:
                watch.kill()
        for plan in plans:
            let_go(plan, rights)
    complete(theirs, peer)
    peer.plan.volume.drop()
    conclude(ours, main, outcome)
    outcome.peer = peer_result(peer)
    why = outcome.peer["reason"] or {}
    if outcome.peer["state"] == "NODE_FAIL" or why.get("code") == "spawn":
        # A peer that never came to be is the platform's fault, so the run is.
        raise Unfit(f"the peer: {why.get('text') or why.get('code')}")


def peer_result(peer: Watch) -> dict[str, Any]:
    """`peer` of result.json: state and figures of the other side; `closed`: it was there until ours had ended."""
    seen = peer.seen
    there = peer.closed and seen.stop is None and not seen.oom_kills
    state, why = ("COMPLETED", None) if there else decide(seen)
    stderr = list(peer.streams.values())[1].total
    return {"state": state, "reason": why, "closed": peer.closed, **figures_of(peer, stderr)}
