"""`python -m qianka.testing.slurm`: a cluster by hand, up until Ctrl-C; prints what to export."""

from __future__ import annotations

import signal
import sys
import threading

from qianka.testing.slurm import Cluster, missing


def main() -> int:
    """Start a cluster, wait, stop it."""
    why = missing()
    if why is not None:
        sys.stderr.write(f"{why}\n")
        return 1
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Cluster() as cluster:
        sys.stdout.write(f"export SLURM_CONF={cluster.conf}\n")
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
