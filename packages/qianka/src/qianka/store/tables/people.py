"""Persons, what they sign in with, cohorts and enrollments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from qianka.store.tables.base import Base


class Person(Base):
    """One human; `login` is lower case, `student_number` is text and kept as it was given."""

    __tablename__ = "person"

    id: Mapped[int] = mapped_column(primary_key=True)
    login: Mapped[str] = mapped_column(unique=True)
    student_number: Mapped[str | None] = mapped_column(unique=True)
    name: Mapped[str]
    alias: Mapped[str]
    """shown on boards unless `show_name`"""
    show_name: Mapped[bool] = mapped_column(default=False)
    email: Mapped[str | None]
    language: Mapped[str | None]
    is_admin: Mapped[bool] = mapped_column(default=False)
    demo: Mapped[bool] = mapped_column(default=False)
    password_hash: Mapped[str | None]
    activation_hash: Mapped[str | None]
    activation_expires: Mapped[datetime | None]
    created_at: Mapped[datetime]


class Token(Base):
    """A browser session or a bearer token; only the hash of the secret is kept."""

    __tablename__ = "token"

    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    kind: Mapped[str]
    """session or bearer"""
    secret_hash: Mapped[str] = mapped_column(unique=True)
    csrf: Mapped[str | None]
    note: Mapped[str] = mapped_column(default="")
    agent: Mapped[str] = mapped_column(default="", server_default="")
    """browser and system of a session, as the browser names them"""
    address: Mapped[str | None]
    """where it was last used from"""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Cohort(Base):
    """One run of a course in a term; rules are evaluated in `zone` (an IANA name)."""

    __tablename__ = "cohort"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    term: Mapped[str] = mapped_column(default="")
    zone: Mapped[str]
    week_start: Mapped[str] = mapped_column(default="1 00:00")
    """ISO weekday and local time at which the budget week begins"""
    class_times: Mapped[list[Any]] = mapped_column(default=list)
    cpu_hours: Mapped[float | None]
    """CPU-hours a person may use a week; null: no limit"""
    gpu_hours: Mapped[float | None]
    late_days: Mapped[int] = mapped_column(default=0, server_default="0")
    """late days a person may spend in the whole cohort, where a lab's late policy takes them"""
    archived_at: Mapped[datetime | None]
    """when it was put away: read, not changed"""
    secret: Mapped[str]
    """seed of what differs between cohorts, such as the perturbation of hidden inputs"""
    demo: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class Enrollment(Base):
    """A person in a cohort; dropped means suspended, nothing is deleted."""

    __tablename__ = "enrollment"
    __table_args__ = (UniqueConstraint("cohort_id", "person_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    cohort_id: Mapped[int] = mapped_column(ForeignKey("cohort.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    role: Mapped[str]
    section: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="active")
    """active or suspended"""
    source: Mapped[str] = mapped_column(default="manual")
    """roster or manual; a roster never drops a manual one"""
    since: Mapped[datetime]
