"""`python -m qianka.server.backup INTO`: make a backup, also while the platform is up.

Settings come from the environment.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qianka import logs, settings
from qianka.errors import NotFound, Text
from qianka.server.telling import Progress, run
from qianka.server.version import VERSION
from qianka.services import backups
from qianka.services.platform import Folders, Platform
from qianka.store.opening import open_store, reach, sqlite_file


def main(argv: Sequence[str] | None = None) -> int:
    """Make one; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m qianka.server.backup", description="make a backup")
    parser.add_argument("into", type=Path, help="the folder in which the backup's own folder is made")
    parser.add_argument("--without-jobs", action="store_true", help="leave out what ended jobs left")
    options = parser.parse_args(argv)
    logs.set_up()
    return run(lambda: _create(options.into, with_jobs=not options.without_jobs))


def _create(into: Path, *, with_jobs: bool) -> Mapping[str, Any]:
    found = settings.load().settings
    root = Path(found.data_dir)
    if not Folders(root).blobs.is_dir() or not (found.database_url or sqlite_file(root).is_file()):
        raise NotFound(
            Text(f"{root} 不是千卡的数据目录", f"{root} is no data directory of Qianka"),
            Text("用 --data-dir 或 QIANKA_DATA_DIR 指定", "name it with --data-dir or QIANKA_DATA_DIR"),
            reason="no_data_dir",
        )
    platform = Platform(settings=found, store=open_store(found))
    try:
        reach(platform.store, patience=0)
        made = backups.create(platform, into, VERSION, with_jobs=with_jobs, progress=Progress())
    finally:
        platform.store.close()
    manifest = made.manifest
    return {
        "folder": str(made.folder),
        "made_at": manifest.made_at,
        "database": manifest.kind,
        "files": manifest.files,
        "bytes": manifest.bytes + manifest.database_bytes,
        "linked": made.linked,
        "counts": manifest.counts,
        "notes": [list(note) for note in made.notes[:20]],
    }


if __name__ == "__main__":
    sys.exit(main())
