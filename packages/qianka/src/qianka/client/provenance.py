"""Calls on where hand-ins came from."""

from __future__ import annotations

from urllib.parse import quote

from qianka.client.transport import Transport
from qianka.schemas.provenance import Provenance


def provenance_of(transport: Transport, submission: str) -> Provenance:
    """The jobs that made a hand-in, beside what cannot be traced."""
    return Provenance.model_validate(transport.get(f"/api/submissions/{quote(submission, safe='')}/provenance"))
