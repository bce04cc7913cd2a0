"""One event of the live stream."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer


class Event(Answer):
    """A change on a topic, named as it was asked for; `id` is where to resume."""

    id: int
    at: datetime
    topic: str
    kind: str
    payload: dict[str, Any] = Field(default_factory=dict)
