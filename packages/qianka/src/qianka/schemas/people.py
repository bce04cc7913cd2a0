"""People of a cohort and the roster that brings them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from qianka.schemas.base import Answer, Request


class Person(Answer):
    """One person as staff sees them in a cohort."""

    login: str
    name: str
    student_number: str | None = None
    alias: str = ""
    email: str | None = None
    role: str = "student"
    section: str = ""
    state: str = "active"
    activated: bool = False


class NewPerson(Request):
    """A person to add by hand; a roster never drops them."""

    login: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=200)
    student_number: str | None = Field(default=None, max_length=100)
    email: str | None = Field(default=None, max_length=320)
    role: str = "student"
    section: str = Field(default="", max_length=100)


class RosterProblem(Answer):
    """A cell that cannot be taken as it is; `row` counts from 1 with the heading."""

    row: int | None = None
    column: str | None = None
    message: str
    blocks: bool = True
    """whether the import is refused because of it"""


class RosterChange(Answer):
    """What an import would do with one person."""

    what: str
    """added, dropped, returned, changed"""
    student_number: str | None = None
    login: str | None = None
    name: str = ""
    section: str = ""
    before: dict[str, Any] = Field(default_factory=dict)


class RosterPreview(Answer):
    """How a roster file was read and what applying it would change. Nothing is written yet."""

    encoding: str
    delimiter: str
    columns: dict[str, str] = Field(default_factory=dict)
    rows: int
    added: int
    dropped: int
    returned: int
    changed: int
    unchanged: int
    partial: bool
    """the file looks like a part of the class (one section, say): applying drops nobody"""
    changes: list[RosterChange] = Field(default_factory=list)
    problems: list[RosterProblem] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    fingerprint: str
    """to be sent back to apply exactly this"""


class ActivationCode(Answer):
    """The one-time code with which a person chooses a password."""

    login: str
    name: str
    code: str


class RosterApplied(Answer):
    """What was written, and the codes to hand out: the only time they are shown."""

    added: int
    dropped: int
    returned: int
    changed: int
    codes: list[ActivationCode] = Field(default_factory=list)


class PersonAdded(Answer):
    """A person now in the cohort; `code` where they have no password yet."""

    person: Person
    code: str | None = None
