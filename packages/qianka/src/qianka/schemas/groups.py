"""Groups that hand in as one, and how they are formed."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request

Scope = Field(default="", pattern="^([a-z0-9][a-z0-9-]{0,62})?$")


class GroupRules(Answer):
    """How groups of a scope are formed; `scope`: the name of a lab or board, empty for the whole cohort."""

    scope: str = ""
    size: int
    by_students: bool = True
    locks_at: datetime | None = None


class NewGroupRules(Request):
    """Rules to set, for staff."""

    scope: str = Scope
    size: int = Field(ge=1, le=20)
    by_students: bool = True
    locks_at: datetime | None = None


class GroupPerson(Answer):
    """Somebody in a group, or asked into it."""

    login: str
    name: str


class Group(Answer):
    """People who hand in as one."""

    id: int
    scope: str
    name: str
    alias: str
    members: list[GroupPerson] = Field(default_factory=list)
    invited: list[GroupPerson] = Field(default_factory=list)


class NewGroup(Request):
    """A group to make, with oneself in it."""

    name: str = Field(min_length=1, max_length=40)
    scope: str = Scope


class Invitation(Request):
    """A classmate to ask."""

    login: str = Field(min_length=1, max_length=100)
