"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import datetime, timezone

from sqlalchemy import BigInteger, DateTime, Integer, String
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""stands where a NUL was: PostgreSQL cannot store one"""


class Instant(TypeDecorator[datetime]):
    """An aware instant, stored in UTC. A naive one is refused: rules belong to zones."""

    impl = DateTime(timezone=False)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive time cannot be stored")
        return value.astimezone(timezone.utc).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=timezone.utc)


class Prose(TypeDecorator[str]):
    """Text; a NUL in it, which no name or sentence needs, becomes a replacement character on both databases."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        # Enumerations of strings are bound as they are: only a str that holds a NUL is changed.
        return value.replace("\0", NO_CHARACTER) if isinstance(value, str) and "\0" in value else value


def whole_number() -> TypeEngine[int]:
    """64 bits on both: memory is counted in bytes. (SQLite numbers rows by itself only in an INTEGER.)"""
    return BigInteger().with_variant(Integer(), "sqlite")
