"""A teacher's first steps."""

from __future__ import annotations

from qianka.schemas.base import Answer


class Step(Answer):
    """One step: done, todo, or look (no obstacle, but somebody should know)."""

    key: str
    state: str
    title: str
    text: str
    to: str | None = None
    """the page on which it is done"""
