"""State and reason from what was seen of a run."""

from __future__ import annotations

from typing import Any

import pytest
from qianka.supervisor.verdict import STATES, Seen, decide, reason


def seen(**facts: Any) -> Seen:
    one = Seen()
    for name, value in facts.items():
        assert hasattr(one, name)
        setattr(one, name, value)
    return one


@pytest.mark.parametrize(
    ("facts", "state", "code"),
    [
        ({"code": 0}, "COMPLETED", None),
        ({"code": 1}, "FAILED", None),
        ({"signal": 11}, "FAILED", None),
        ({"signal": 24, "cpu_limit": 3, "cpu": 3.1}, "TIMEOUT", "timeout_cpu"),
        ({"code": 0, "oom_kills": 1}, "OUT_OF_MEMORY", "out_of_memory"),
        ({"code": 1, "disk_full": True}, "FAILED", "disk_full"),
        ({"code": 0, "disk_full": True}, "COMPLETED", None),
        ({"code": 1, "forks_denied": 3}, "FAILED", "process_limit"),
        ({"code": 0, "forks_denied": 3}, "COMPLETED", None),
        ({"contained": True, "told_exit": True, "code": 1}, "FAILED", None),
        ({"contained": True, "code": 1, "complaint": "bwrap: Can't find source path /x"}, "NODE_FAIL", "sandbox"),
        ({"contained": True, "code": 1, "complaint": "bwrap: execvp foo: No such file"}, "FAILED", "spawn"),
        ({"contained": True, "signal": 9}, "NODE_FAIL", "lost"),
        ({"contained": True, "signal": 9, "oom_kills": 2}, "OUT_OF_MEMORY", "out_of_memory"),
        ({"contained": True, "signal": 9, "complaint": "execvp"}, "NODE_FAIL", "lost"),
    ],
)
def test_verdicts(facts: dict[str, Any], state: str, code: str | None) -> None:
    found, why = decide(seen(**facts))
    assert found == state
    assert (why["code"] if why else None) == code


@pytest.mark.parametrize("code", sorted(STATES))
def test_what_the_supervisor_ended_is_told_whatever_came_of_it(code: str) -> None:
    state, why = decide(seen(stop=reason(code, 1, 2), code=0, oom_kills=1, disk_full=True))
    assert (state, why["code"] if why else None) == (STATES[code], code)
