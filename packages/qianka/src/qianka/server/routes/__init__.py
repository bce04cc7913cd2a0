"""Routes, a noun a file; PUBLIC needs no sign-in, PRIVATE does."""

from qianka.server.routes import attempts, auth, boards, cohorts, events, jobs, labs, people, submissions, system

PUBLIC = (auth.public, system.public)
PRIVATE = (
    auth.router,
    people.router,
    cohorts.router,
    labs.router,
    submissions.router,
    attempts.router,
    boards.router,
    jobs.router,
    events.router,
    system.router,
)
