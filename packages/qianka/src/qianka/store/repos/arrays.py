"""Queries on job arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from qianka.ids import new_id
from qianka.store.tables import Job

PREFIX = "ja"
"""of an array's id; `ID_3` names the job of its index 3"""


def new_array_id() -> str:
    """A fresh id of an array."""
    return new_id(PREFIX)


def is_array(name: str) -> bool:
    """Whether `name` is an array's id, and not that of one of its jobs."""
    return name.startswith(f"{PREFIX}-") and "_" not in name


def of_array(session: Session, array_id: str) -> list[Job]:
    """The jobs of an array in the order of their indexes."""
    return list(session.scalars(select(Job).where(Job.array_id == array_id).order_by(Job.array_index)))


def member(session: Session, name: str) -> Job | None:
    """The job that `ARRAY_INDEX` names."""
    array_id, _, index = name.partition("_")
    if not (array_id and index.isascii() and index.isdigit() and len(index) <= 7):
        return None
    return session.scalar(select(Job).where(Job.array_id == array_id, Job.array_index == int(index)))


def states(session: Session, array_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """By array, how many of its jobs are in which state."""
    query = select(Job.array_id, Job.state, func.count()).where(Job.array_id.in_(array_ids))
    found: dict[str, dict[str, int]] = {}
    for array_id, state, count in session.execute(query.group_by(Job.array_id, Job.state).order_by(Job.state)):
        found.setdefault(str(array_id), {})[state] = count
    return found


def folded(query: Select[Any]) -> Select[Any]:
    """`query` (on Job) with one line an array: its newest job among those that the query finds."""
    newest = query.with_only_columns(func.max(Job.id)).where(Job.array_id.is_not(None)).group_by(Job.array_id)
    return query.where(or_(Job.array_id.is_(None), Job.id.in_(newest)))
