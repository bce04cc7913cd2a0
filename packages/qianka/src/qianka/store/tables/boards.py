"""Boards of predictions: the rules, what was entered, and where everybody stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Board(Base):
    """A board on which CSV predictions are ranked; the board of a lab's own metric needs no row."""

    __tablename__ = "board"
    __table_args__ = (UniqueConstraint("cohort_id", "slug"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    lab_id: Mapped[int | None] = mapped_column(ForeignKey("lab.id"))
    slug: Mapped[str]
    title: Mapped[str]
    title_en: Mapped[str] = mapped_column(default="")
    metric: Mapped[str]
    digits: Mapped[int]
    rules: Mapped[dict[str, Any]]
    """the rest of board.toml: columns, split, limits, selection, bonus, ladder, group (grading/boardfile.py)"""
    answers_sha256: Mapped[str]
    """content hash of the answers among the blobs; they never leave the server"""
    sample_sha256: Mapped[str | None]
    secret: Mapped[str]
    """key of the row hash that splits public from private"""
    opens_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    reveal_at: Mapped[datetime | None]
    """when the private ranking is shown; null: at the deadline"""
    created_at: Mapped[datetime]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("person.id"))


class Entry(Base):
    """One hand-in of predictions. `owner` is who it counts for: `p` and a person's id, or `g` and a group's."""

    __tablename__ = "entry"
    __table_args__ = (
        UniqueConstraint("person_id", "idempotency_key"),
        UniqueConstraint("board_id", "owner", "number"),
        Index("ix_entry_board_owner_at", "board_id", "owner", "submitted_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    board_id: Mapped[str] = mapped_column(ForeignKey("board.id"))
    owner: Mapped[str]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    """who sent it"""
    group_id: Mapped[int | None] = mapped_column(ForeignKey("group.id"))
    number: Mapped[int]
    """1, 2, 3 … within the owner, in the order of recording"""
    idempotency_key: Mapped[str]
    filename: Mapped[str]
    size: Mapped[int]
    sha256: Mapped[str]
    state: Mapped[str]
    """scored, invalid, failed or withdrawn"""
    refusal: Mapped[dict[str, Any] | None]
    """{problems: [{code, count, zh, en, first}]} of an invalid one"""
    public: Mapped[float | None]
    private: Mapped[float | None]
    shown: Mapped[float | None]
    """the owner's public score as told after this entry: the Ladder's, or this entry's own without one"""
    charged: Mapped[bool] = mapped_column(default=False)
    selected: Mapped[bool] = mapped_column(default=False)
    submitted_at: Mapped[datetime]
    withdrawn_at: Mapped[datetime | None]


class EntryReceipt(Base):
    """The signed proof of an entry; `body` is the exact text that was signed."""

    __tablename__ = "entry_receipt"

    id: Mapped[str] = mapped_column(primary_key=True)
    entry_id: Mapped[str] = mapped_column(ForeignKey("entry.id"), unique=True)
    body: Mapped[str]
    signature: Mapped[str]
    key_id: Mapped[str]
    created_at: Mapped[datetime]


class Standing(Base):
    """Where an owner stands on a board: made from their entries alone, anew at each change of one."""

    __tablename__ = "standing"
    __table_args__ = (UniqueConstraint("board_id", "owner"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    board_id: Mapped[str] = mapped_column(ForeignKey("board.id"), index=True)
    owner: Mapped[str]
    entries: Mapped[int]
    """scored ones"""
    public: Mapped[float | None]
    public_at: Mapped[datetime | None]
    public_entry: Mapped[str | None]
    private: Mapped[float | None]
    private_at: Mapped[datetime | None]
    private_entry: Mapped[str | None]
    ladder: Mapped[dict[str, Any] | None]
    """{entry, shown} of the entry on which the owner's Ladder rests"""
    losses: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    """its losses on the public rows, compressed 32-bit floats"""
