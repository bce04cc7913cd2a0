"""What is deleted after a time: events, tokens. Grades, receipts, the ledger and the audit log never are."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Event, Token


def delete_events_before(session: Session, instant: datetime, limit: int) -> int:
    """Delete the oldest events before `instant`, at most `limit`; how many. The newest event always stays."""
    newest = select(func.max(Event.id)).scalar_subquery()
    old = select(Event.id).where(Event.at < instant, Event.id < newest).order_by(Event.id).limit(limit)
    ids = list(session.scalars(old))
    if ids:
        session.execute(delete(Event).where(Event.id >= ids[0], Event.id <= ids[-1], Event.at < instant))
    return len(ids)


def delete_tokens_before(session: Session, instant: datetime) -> int:
    """Delete tokens that expired or were revoked before `instant`; how many."""
    ids = list(session.scalars(select(Token.id).where((Token.expires_at < instant) | (Token.revoked_at < instant))))
    if ids:
        session.execute(delete(Token).where(Token.id.in_(ids)))
    return len(ids)
