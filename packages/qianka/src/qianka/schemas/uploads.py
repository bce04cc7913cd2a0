"""Hand-ins that are sent in pieces."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request


class NewUpload(Request):
    """A file that is going to be handed in."""

    filename: str = Field(min_length=1, max_length=500)
    size: int = Field(ge=0)
    """bytes"""


class Upload(Answer):
    """A file on its way: send the piece that begins at `received` next, at most `piece` bytes."""

    id: str
    filename: str
    size: int
    received: int
    piece: int
    expires_at: datetime
    """nobody going on with it until then; each piece moves it"""
