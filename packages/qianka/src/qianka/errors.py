"""Every refusal of the platform, in one tree.

QiankaError
├── BadInput         400  what was sent cannot be read as what it should be
├── NotSignedIn      401  no valid session or token
├── Forbidden        403  signed in, but not allowed
├── NotFound         404
├── Conflict         409  the state of things does not admit this now
├── TooLarge         413
├── Refused          422  a hand-in, roster or lab breaks a rule; names the rule
├── OverLimit        429  tries, budget or rate used up; says when it comes back
├── ConfigError      500  a setting is wrong; names the setting and where it was read
├── SandboxRefused   503  this host cannot contain student code; nothing was run
├── Unavailable      503  a part of the platform does not answer; try again
└── PlatformFault    500  our own fault; never a grade, never charged
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

Language = Literal["zh", "en"]


class Text(NamedTuple):
    """One sentence in both languages of the platform."""

    zh: str
    en: str

    def say(self, language: Language) -> str:
        """The sentence in `language`."""
        return self.zh if language == "zh" else self.en


class QiankaError(Exception):
    """Base of all refusals: what happened (`message`), what to do (`hint`), facts (`details`)."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: Text, hint: Text | None = None, *, reason: str | None = None, **details: Any) -> None:
        super().__init__(message.en)
        self.message = message
        self.hint = hint
        self.reason = reason or self.code
        self.details = details

    def __str__(self) -> str:
        return self.message.en if self.hint is None else f"{self.message.en} {self.hint.en}"


class BadInput(QiankaError):
    code, http_status, exit_code = "bad_input", 400, 2


class NotSignedIn(QiankaError):
    code, http_status, exit_code = "not_signed_in", 401, 5


class Forbidden(QiankaError):
    code, http_status, exit_code = "forbidden", 403, 5


class NotFound(QiankaError):
    code, http_status, exit_code = "not_found", 404, 6


class Conflict(QiankaError):
    code, http_status, exit_code = "conflict", 409, 7


class TooLarge(QiankaError):
    code, http_status, exit_code = "too_large", 413, 7


class Refused(QiankaError):
    code, http_status, exit_code = "refused", 422, 7


class OverLimit(QiankaError):
    code, http_status, exit_code = "over_limit", 429, 8


class ConfigError(QiankaError):
    code, http_status, exit_code = "config", 500, 3


class SandboxRefused(QiankaError):
    code, http_status, exit_code = "sandbox_refused", 503, 4


class Unavailable(QiankaError):
    code, http_status, exit_code = "unavailable", 503, 9


class PlatformFault(QiankaError):
    code, http_status, exit_code = "platform_fault", 500, 10
