"""People of a cohort and the roster that brings them."""

from __future__ import annotations

from typing import Literal

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


class ChangePerson(Request):
    """What staff changes about somebody in a cohort; a field that is left out stays."""

    role: str | None = Field(default=None, max_length=20)
    section: str | None = Field(default=None, max_length=100)
    state: Literal["active", "suspended"] | None = None
    name: str | None = Field(default=None, max_length=200)
    email: str | None = Field(default=None, max_length=320)


class RosterProblem(Answer):
    """A row that is left out, and why; `line` as a spreadsheet counts, `column` from 1."""

    line: int
    column: int | None = None
    code: str
    message: str
    student_number: str | None = None


class RosterChange(Answer):
    """What an import would do with one person."""

    what: str
    """added, dropped, returned or changed"""
    login: str
    name: str = ""
    student_number: str | None = None
    section: str = ""
    fields: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """what differs: field → (old, new)"""


class RosterPreview(Answer):
    """How a roster file was read and what applying it would change. Nothing is written yet."""

    encoding: str
    delimiter: str
    columns: list[tuple[str, str | None]] = Field(default_factory=list)
    """each column of the file and the field it was taken for"""
    sample_names: list[str] = Field(default_factory=list)
    """a few names, to see whether the encoding was understood"""
    rows: int
    summary: str
    unchanged: int
    kept: int
    """not in the file, and stays: staff and people added by hand"""
    changes: list[RosterChange] = Field(default_factory=list)
    problems: list[RosterProblem] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    mode: str
    needs_mode: str | None = None
    """why append or replace has to be chosen before it can be applied"""
    digest: str
    """to be sent back to apply exactly this"""


class ActivationCode(Answer):
    """The one-time code with which a person chooses a password."""

    login: str
    name: str
    student_number: str | None = None
    section: str = ""
    code: str


class NewCodes(Request):
    """Whose codes to make anew; left out: all who have never signed in."""

    logins: list[str] | None = Field(default=None, max_length=2000)


class ActivationCodes(Answer):
    """Codes of a class, the only time they are shown; `left_out`: names of people who are in other cohorts too."""

    codes: list[ActivationCode] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)


class RosterApplied(Answer):
    """What was written, and the codes to hand out: the only time they are shown."""

    summary: str
    added: int
    dropped: int
    returned: int
    changed: int
    codes: list[ActivationCode] = Field(default_factory=list)


class PersonAdded(Answer):
    """A person now in the cohort; `code` where they have no password yet."""

    person: Person
    code: str | None = None
