"""Calls on regrades and replays, for staff."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from qianka.client.transport import Transport
from qianka.schemas.regrades import Regrade, RegradeShown, Replay


class RegradeCalls:
    """One person's calls on regrades; `client.regrades` of a Client."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def start(self, cohort: str, lab: str, **fields: Any) -> Regrade:
        """Begin a rehearsal; `fields` as NewRegrade has them."""
        return Regrade.model_validate(self.transport.post(f"{_lab(cohort, lab)}/regrades", fields))

    def of_lab(self, cohort: str, lab: str) -> list[Regrade]:
        return [Regrade.model_validate(item) for item in self.transport.get(f"{_lab(cohort, lab)}/regrades")]

    def show(self, regrade: str) -> RegradeShown:
        return RegradeShown.model_validate(self.transport.get(f"/api/regrades/{_part(regrade)}"))

    def apply(self, regrade: str, digest: str) -> RegradeShown:
        """Let it count, as it was shown."""
        return RegradeShown.model_validate(
            self.transport.post(f"/api/regrades/{_part(regrade)}/apply", {"digest": digest})
        )

    def drop(self, regrade: str) -> RegradeShown:
        return RegradeShown.model_validate(self.transport.post(f"/api/regrades/{_part(regrade)}/drop"))

    def replay(self, attempt: str) -> Replay:
        """Do a grading again; it never counts."""
        return Replay.model_validate(self.transport.post(f"/api/attempts/{_part(attempt)}/replay"))

    def replayed(self, attempt: str) -> Replay:
        """How a replay came out; `attempt`: its own id."""
        return Replay.model_validate(self.transport.get(f"/api/replays/{_part(attempt)}"))


def _part(name: str) -> str:
    return quote(name, safe="")


def _lab(cohort: str, lab: str) -> str:
    return f"/api/cohorts/{_part(cohort)}/labs/{_part(lab)}"
