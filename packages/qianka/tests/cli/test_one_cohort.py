"""Which cohort a command means when none is named."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from qianka.cli.common import one_cohort
from qianka.errors import BadInput, NotFound
from qianka.schemas.auth import Me, Membership
from qianka.schemas.cohorts import Cohort

NOW = datetime(2026, 12, 1, tzinfo=timezone.utc)


class Platform:
    """What `one_cohort` asks a platform for."""

    def __init__(self, mine: list[str], there: list[str], *, admin: bool = False) -> None:
        cohorts = [Membership(cohort=slug, title=slug, role="student", state="active") for slug in mine]
        self._me = Me(login="ann", name="Ann", alias="a", is_admin=admin, cohorts=cohorts)
        self._there = [Cohort(slug=slug, title=slug, zone="UTC", created_at=NOW) for slug in there]

    def me(self) -> Me:
        return self._me

    def cohorts(self) -> list[Cohort]:
        return self._there


@pytest.mark.parametrize(
    ("mine", "there", "admin", "meant"),
    [(["ai"], ["ai", "ml"], False, "ai"), ([], ["ai"], True, "ai"), (["ml"], ["ai", "ml"], True, "ml")],
)
def test_the_only_one_is_meant(mine: list[str], there: list[str], admin: bool, meant: str) -> None:
    speaker: Any = Platform(mine, there, admin=admin)
    assert one_cohort(speaker, None) == meant
    assert one_cohort(speaker, "another") == "another"


@pytest.mark.parametrize(
    ("mine", "there", "admin", "refusal", "hint"),
    [
        ([], ["ai"], False, NotFound, "ask the teacher"),
        ([], [], True, NotFound, "qianka cohort create"),
        ([], ["ai", "ml"], True, BadInput, "--cohort"),
        (["ai", "ml"], ["ai", "ml"], False, BadInput, "--cohort"),
    ],
)
def test_otherwise_what_to_do_is_said(
    mine: list[str], there: list[str], admin: bool, refusal: type[Exception], hint: str
) -> None:
    speaker: Any = Platform(mine, there, admin=admin)
    with pytest.raises(refusal) as told:
        one_cohort(speaker, None)
    assert hint in told.value.hint.en  # type: ignore[attr-defined]
