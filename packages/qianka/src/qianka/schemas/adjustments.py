"""What staff decides about a grade beside what was graded."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from qianka.schemas.base import Answer, Request

Kind = Literal["bonus", "override", "comment"]


class NewAdjustment(Request):
    """A bonus (points on top; negative takes away), an override (points instead of what was graded) or a comment."""

    login: str = Field(min_length=1, max_length=100)
    kind: Kind
    points: float | None = Field(default=None, allow_inf_nan=False)
    """of a bonus or an override; a comment has none"""
    text: str = Field(min_length=1, max_length=2000)
    """the reason of a bonus or an override, or the comment; the student sees it"""


class Adjustment(Answer):
    """One decision; of one kind the newest that is not revoked holds."""

    id: int
    kind: str
    points: float | None = None
    text: str
    by: str | None = None
    at: datetime
    revoked_at: datetime | None = None
    """taken back, or replaced by a newer one"""
