"""Which rows of the hidden answers are public: a keyed hash of the row's id, so that no order of rows tells."""

from __future__ import annotations

import hashlib

_SPAN = 1 << 64


def is_public(secret: str, id: str, share: float) -> bool:
    """Whether the row `id` belongs to the public part, a `share` (0 to 1) of all ids.

    The same `secret` (hexadecimal) gives the same split whatever rows there are and however they lie.
    """
    digest = hashlib.blake2b(id.encode("utf-8", "surrogatepass"), key=bytes.fromhex(secret), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * _SPAN
