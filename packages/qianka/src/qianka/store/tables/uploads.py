"""Uploads that may be interrupted: the bytes lie in the data directory, what is known of them here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Upload(Base):
    """A file on its way in pieces; `received` bytes are safely on disk."""

    __tablename__ = "upload"

    id: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    lab_id: Mapped[int] = mapped_column(ForeignKey("lab.id"))
    filename: Mapped[str]
    size: Mapped[int]
    received: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
