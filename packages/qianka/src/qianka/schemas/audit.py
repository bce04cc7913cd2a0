"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer


class AuditLine(Answer):
    """Who did what to what; never a secret."""

    id: int
    at: datetime
    login: str = ""
    """empty where nobody was signed in: a failed sign-in, or the platform itself"""
    name: str = ""
    action: str
    """such as person.create, sign_in.failed, grade.adjust"""
    target: str
    details: dict[str, Any] = Field(default_factory=dict)
    address: str | None = None
