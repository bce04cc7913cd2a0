"""The audit log: one line for each change that somebody made."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from qianka.services.platform import Caller, Platform
from qianka.store.tables import Audit


def record(session: Session, platform: Platform, caller: Caller, action: str, target: str, **details: Any) -> None:
    """Write who did what to what, inside the transaction of the change itself. Never a secret."""
    session.add(
        Audit(
            at=platform.now(),
            person_id=caller.person_id,
            action=action,
            target=target,
            details=details,
            address=caller.address,
        )
    )
