"""Routes, a noun a file; PUBLIC needs no sign-in, PRIVATE does."""

from qianka.server.routes import (
    arrays,
    attempts,
    auth,
    boards,
    cohorts,
    dates,
    entries,
    events,
    groups,
    jobs,
    labs,
    people,
    predictions,
    provenance,
    regrades,
    sessions,
    submissions,
    system,
)

PUBLIC = (auth.public, system.public)
PRIVATE = (
    auth.router,
    sessions.router,
    people.router,
    cohorts.router,
    labs.router,
    dates.router,
    submissions.router,
    provenance.router,
    attempts.router,
    regrades.router,
    boards.router,
    predictions.router,
    entries.router,
    groups.router,
    jobs.router,
    arrays.router,
    events.router,
    system.router,
)
