"""What the platform says about itself."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer


class Version(Answer):
    """Which version answers."""

    version: str
    api: int = 1


class Notice(Answer):
    """Something every page has to say while it lasts."""

    code: str
    message: str
    fix: str | None = None


class Health(Answer):
    """Whether the parts answer. `status`: ok, degraded or down. Details are for staff alone."""

    status: str
    version: str
    upload_limit: int | None = None
    """bytes of one upload"""
    notices: list[Notice] = Field(default_factory=list)
    parts: dict[str, Any] = Field(default_factory=dict)
    """database, worker, sandbox, process, disk"""
