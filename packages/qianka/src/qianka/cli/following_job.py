"""A job as it goes: where it waits, then what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qianka.cli import output

if TYPE_CHECKING:
    from qianka.client.api import Client


def follow(client: Client, job: str) -> None:
    """Print standard output until the job has ended, then what it wrote to standard error."""
    found = client.job(job)
    if found.queue is not None:
        output.note("  " + found.queue.sentence)
    for piece in client.log_text(job, "stdout", live_=True):
        output.show_log(piece, error=output.mode.json)
    for piece in client.log_text(job, "stderr", live_=False):
        output.show_log(piece, error=True)
