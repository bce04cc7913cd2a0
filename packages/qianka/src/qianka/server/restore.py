"""`python -m qianka.server.restore verify|restore BACKUP`: look at a backup, or put it into an empty place.

Settings (data directory, database) come from the environment.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qianka import logs, settings
from qianka.server.telling import Progress, run
from qianka.services import backups
from qianka.services.platform import Platform
from qianka.store.opening import open_store, reach


def main(argv: Sequence[str] | None = None) -> int:
    """Verify or restore; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m qianka.server.restore", description="backups")
    parser.add_argument("what", choices=("verify", "restore"))
    parser.add_argument("backup", type=Path)
    options = parser.parse_args(argv)
    logs.set_up()
    work = _verify if options.what == "verify" else _restore
    return run(lambda: work(options.backup.absolute()))


def _verify(folder: Path) -> Mapping[str, Any]:
    verdict = backups.verify(folder, Progress())
    manifest = verdict.manifest
    return {
        "ok": not verdict.problems,
        "problems": [list(problem) for problem in verdict.problems],
        "notes": [list(note) for note in verdict.notes[:20]],
        "receipts": verdict.receipts,
        "made_at": manifest.made_at,
        "version": manifest.version,
        "database": manifest.kind,
        "files": manifest.files,
        "bytes": manifest.bytes + manifest.database_bytes,
        "counts": manifest.counts,
    }


def _restore(folder: Path) -> Mapping[str, Any]:
    found = settings.load().settings
    platform = Platform(settings=found, store=open_store(found))
    try:
        if not platform.store.is_sqlite:
            reach(platform.store, patience=0)
        told = backups.restore(platform, folder, Progress())
    finally:
        platform.store.close()
    return {
        "data_dir": found.data_dir,
        "made_at": told.manifest.made_at,
        "files": told.manifest.files,
        "lost": told.lost,
        "waiting": told.waiting,
        "submissions": told.manifest.counts.get("submission", 0),
    }


if __name__ == "__main__":
    sys.exit(main())
