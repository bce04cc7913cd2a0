"""Calls on dates, extensions, late days and the history of grades."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from qianka.client.transport import Transport
from qianka.schemas.dates import DatesChanged, Extension, ExtensionChanged, GradeChange, LateDaysChanged, MyDates


class DateCalls:
    """One person's calls on dates; `client.dates` of a Client."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def mine(self, cohort: str, lab: str, login: str | None = None) -> MyDates:
        """When a lab is due for the caller, or (staff) for `login`."""
        return MyDates.model_validate(self.transport.get(f"{_lab(cohort, lab)}/dates", login=login))

    def change(self, cohort: str, lab: str, **fields: Any) -> DatesChanged:
        """Set dates; `fields` as NewDates has them, None lifts one."""
        body = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in fields.items()}
        answer = self.transport.request("PUT", f"{_lab(cohort, lab)}/dates", json=body)
        return DatesChanged.model_validate(answer.json())

    def late_days(self, cohort: str, days: int, *, preview: bool) -> LateDaysChanged:
        body = {"days": days, "preview": preview}
        answer = self.transport.request("PUT", f"/api/cohorts/{_part(cohort)}/late-days", json=body)
        return LateDaysChanged.model_validate(answer.json())

    def extensions(self, cohort: str, lab: str | None = None, *, revoked: bool = False) -> list[Extension]:
        found = self.transport.get(f"/api/cohorts/{_part(cohort)}/extensions", lab=lab, revoked=revoked)
        return [Extension.model_validate(item) for item in found]

    def extend(self, cohort: str, **fields: Any) -> ExtensionChanged:
        """Give an extension; `fields` as NewExtension has them."""
        return ExtensionChanged.model_validate(self.transport.post(f"/api/cohorts/{_part(cohort)}/extensions", fields))

    def revoke(self, cohort: str, extension: str, reason: str, *, preview: bool) -> ExtensionChanged:
        path = f"/api/cohorts/{_part(cohort)}/extensions/{_part(extension)}/revoke"
        return ExtensionChanged.model_validate(self.transport.post(path, {"reason": reason, "preview": preview}))

    def history(self, cohort: str, lab: str, login: str | None = None) -> list[GradeChange]:
        """Every change of a grade, oldest first."""
        found = self.transport.get(f"{_lab(cohort, lab)}/grade-changes", login=login)
        return [GradeChange.model_validate(item) for item in found]


def _part(name: str) -> str:
    return quote(name, safe="")


def _lab(cohort: str, lab: str) -> str:
    return f"/api/cohorts/{_part(cohort)}/labs/{_part(lab)}"
