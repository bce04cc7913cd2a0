"""Server-rendered pages, a noun a file."""

from fastapi import APIRouter

from qianka.server.pages import board, lab, start, submission

router = APIRouter(include_in_schema=False)
for _part in (start.router, lab.router, submission.router, board.router):
    router.include_router(_part)
