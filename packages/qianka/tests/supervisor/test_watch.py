"""Watching a run: what must hold whenever its end is noticed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from qianka.jobdir import spec
from qianka.supervisor.watch import Watch


class Once:
    """A process that can be waited for once, as the kernel has it."""

    pid, watch = 4_000_000, None

    def __init__(self) -> None:
        self.is_waited_for = False

    def ended(self) -> int | None:
        if self.is_waited_for:
            raise ChildProcessError(10, "No child processes")
        self.is_waited_for = True
        return 3 << 8


def test_an_end_before_anybody_listened_is_noticed_once(tmp_path: Path) -> None:
    plan: Any = SimpleNamespace(status=None, release=None, group=None)
    child: Any = Once()
    job = spec.filled({"job": "j-1", "argv": ["true"]})
    watch = Watch(job, 1, str(tmp_path), plan, child, SimpleNamespace())  # type: ignore[arg-type]
    watch.look()
    ended = watch.ended
    assert ended is not None
    assert watch.seen.code == 3
    watch._notice_end()
    assert watch.ended == ended
