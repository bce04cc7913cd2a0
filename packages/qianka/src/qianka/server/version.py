"""Which version this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("qianka")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0"


VERSION = _installed()
