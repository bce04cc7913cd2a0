"""`python -m qianka.server.database`: what the database of the settings is, for `qianka doctor`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from qianka import settings
from qianka.server.telling import run
from qianka.store.opening import open_store, reach, shown


def main() -> int:
    """Look; the exit status."""
    return run(_look)


def _look() -> Mapping[str, Any]:
    store = open_store(settings.load().settings)
    try:
        facts = reach(store, patience=0)
        return {**facts._asdict(), "address": shown(store)}
    finally:
        store.close()


if __name__ == "__main__":
    sys.exit(main())
