"""Groups of students who hand in as one, and the rules by which they are formed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Grouping(Base):
    """How groups are formed in a cohort; `scope` is the slug of a lab or board, empty for the whole cohort."""

    __tablename__ = "grouping"
    __table_args__ = (UniqueConstraint("cohort_id", "scope"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    scope: Mapped[str] = mapped_column(default="")
    size: Mapped[int]
    """members at most"""
    by_students: Mapped[bool] = mapped_column(default=True)
    """false: only staff makes groups"""
    locks_at: Mapped[datetime | None]
    """from then on students change nothing"""


class Group(Base):
    """People who hand in as one: one counter, one entry on a board, one grade for each member."""

    __tablename__ = "group"
    __table_args__ = (UniqueConstraint("cohort_id", "scope", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    scope: Mapped[str] = mapped_column(default="")
    name: Mapped[str]
    alias: Mapped[str]
    """shown on boards unless every member shows their name"""
    created_at: Mapped[datetime]


class GroupMember(Base):
    """A person in a group, or asked into it."""

    __tablename__ = "group_member"
    __table_args__ = (UniqueConstraint("group_id", "person_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("group.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    state: Mapped[str]
    """invited, member or left"""
    since: Mapped[datetime]
