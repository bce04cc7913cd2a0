"""What all bodies of the HTTP API share."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")


class Answer(BaseModel):
    """Base of everything the server sends; an older client ignores what it does not know."""

    # In an answer nothing is left out, and the web's typed client is to know it.
    model_config = ConfigDict(from_attributes=True, extra="ignore", json_schema_serialization_defaults_required=True)


class Request(BaseModel):
    """Base of everything a client sends; a field that does not exist is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Problem(Answer):
    """The one shape of every refusal, in the caller's language."""

    code: str
    """one of the codes of docs/reference/errors.md"""
    message: str
    hint: str | None = None
    """what to do"""
    details: dict[str, Any] = Field(default_factory=dict)
    """facts; `reason` says more closely than `code` what it was"""


class Page(Answer, Generic[Item]):
    """A part of a list; `next` is to be sent as `after` for the part that follows, null at the end."""

    items: list[Item]
    next: str | None = None


class Sentence(Answer):
    """One sentence in both languages, as stored in feedback and notes."""

    zh: str
    en: str
