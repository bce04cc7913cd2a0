"""Names of things: short, sortable by time, safe in paths, URLs and shells."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """A fresh id such as `s-01j4zq2k8m7x3v9c`: milliseconds since 1970, then 35 random bits."""
    value = (int(time.time() * 1000) << 35) | secrets.randbits(35)
    digits = []
    for _ in range(16):
        value, rest = divmod(value, 32)
        digits.append(_ALPHABET[rest])
    return f"{prefix}-{''.join(reversed(digits))}"
