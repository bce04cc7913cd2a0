"""Routes, a noun a file; PUBLIC needs no sign-in, PRIVATE does."""

from qianka.server.routes import auth, cohorts, events, jobs, system

PUBLIC = (auth.public, system.public)
PRIVATE = (auth.router, cohorts.router, events.router, jobs.router, system.router)
