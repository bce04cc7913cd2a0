"""The C part of `signal` alone: the Python part costs 10 ms of start, for enums nobody here needs."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

__all__ = ["_signal"]
