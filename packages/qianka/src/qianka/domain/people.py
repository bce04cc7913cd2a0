"""People and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Role(str, Enum):
    """What a person is in a cohort; ADMIN is of the whole platform."""

    ADMIN = "admin"
    TEACHER = "teacher"
    ASSISTANT = "assistant"
    STUDENT = "student"


STAFF = (Role.TEACHER, Role.ASSISTANT)


@dataclass(frozen=True)
class Identified:
    """Whom a sign-in service outside has vouched for.

    `subject` never changes there for this person; `campus_id` is what our rosters know them by, a
    student number or login; `name` and `email` may be empty.
    """

    subject: str
    campus_id: str
    name: str = ""
    email: str = ""
