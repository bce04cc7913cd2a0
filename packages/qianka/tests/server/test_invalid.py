"""A request that does not fit is refused in the caller's words, without what was sent."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field, ValidationError
from qianka.server import invalid


class Form(BaseModel):
    """What is sent."""

    slug: str = Field(pattern="^[a-z]+$")
    hours: float = Field(default=1, ge=0)


@pytest.mark.parametrize(
    ("sent", "zh", "en"),
    [
        ({}, "slug：没有填", "slug: is missing"),
        ({"slug": "AI 2026"}, "slug：格式不对，应符合 ^[a-z]+$", "slug: is not of the form ^[a-z]+$"),
        ({"slug": "ai", "hours": -3}, "hours：应不小于 0.0", "hours: must be at least 0.0"),
        ({"slug": "ai", "hours": "many"}, "hours：应是数", "hours: must be a number"),
    ],
)
def test_what_is_wrong_is_said_in_both_languages(sent: dict[str, object], zh: str, en: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Form.model_validate(sent)
    errors = [{**error, "loc": ("body", *error["loc"])} for error in caught.value.errors()]
    refusal = invalid.refusal(errors)
    assert (zh in refusal.message.zh, en in refusal.message.en) == (True, True)
    assert refusal.hint is not None
    assert "AI 2026" not in str(refusal.details)


def test_an_unknown_kind_of_error_is_told_as_it_is() -> None:
    refusal = invalid.refusal([{"loc": ("query", "n"), "type": "value_error", "msg": "odd {thing}"}])
    assert refusal.message.en.endswith("n: odd {thing}")
