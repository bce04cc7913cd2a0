"""Every page of the web by who looks at it: what browsers are sent through, and pictures are taken of.

`{cohort}`, `{lab}`, `{board}`, `{job}`, `{submission}`, `{attempt}`, `{inquiry}` and `{screen}` (a screen token) are
for the caller to fill.
"""

from __future__ import annotations

STUDENT = (
    "/",
    "/c/{cohort}/labs",
    "/c/{cohort}/labs/{lab}",
    "/c/{cohort}/labs/{lab}/board",
    "/c/{cohort}/boards",
    "/c/{cohort}/boards/{board}",
    "/jobs",
    "/jobs/{job}",
    "/submissions/{submission}",
    "/attempts/{attempt}",
    "/grades",
    "/me",
    "/me/tokens",
    "/me/sessions",
    "/guide/start",
    "/guide/no-gpu",
    "/nowhere",
)
TEACHER = (
    "/",
    "/c/{cohort}/start",
    "/c/{cohort}/people",
    "/c/{cohort}/people/import",
    "/c/{cohort}/groups",
    "/c/{cohort}/teach/labs",
    "/c/{cohort}/teach/labs/{lab}",
    "/c/{cohort}/submissions",
    "/c/{cohort}/compare",
    "/c/{cohort}/grades",
    "/c/{cohort}/inquiries",
    "/c/{cohort}/inquiries/{inquiry}",
    "/c/{cohort}/boards/new",
    "/c/{cohort}/boards/{board}",
    "/c/{cohort}/screen",
    "/c/{cohort}/settings",
    "/nodes",
)
ADMIN = ("/", "/admin/cohorts", "/admin/audit")
OUTSIDE = ("/login", "/login?refused=no_account", "/activate", "/screen/{cohort}#{screen}")
