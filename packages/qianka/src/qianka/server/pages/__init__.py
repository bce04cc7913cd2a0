"""Server-rendered pages, a noun a file."""

from fastapi import APIRouter

from qianka.server.pages import start

router = APIRouter(include_in_schema=False)
for _part in (start.router,):
    router.include_router(_part)
