"""People and what they may do."""

from __future__ import annotations

from enum import Enum


class Role(str, Enum):
    """What a person is in a cohort; ADMIN is of the whole platform."""

    ADMIN = "admin"
    TEACHER = "teacher"
    ASSISTANT = "assistant"
    STUDENT = "student"


STAFF = (Role.TEACHER, Role.ASSISTANT)
