"""Who a person is for a sign-in service outside (OIDC, LDAP, CAS)."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Identity(Base):
    """A person's name at one sign-in method; made at the first sign-in by it."""

    __tablename__ = "identity"
    __table_args__ = (UniqueConstraint("method", "subject"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    method: Mapped[str]
    subject: Mapped[str]
    """what never changes for this person there, such as an OIDC `sub`"""
    created_at: Mapped[datetime]
