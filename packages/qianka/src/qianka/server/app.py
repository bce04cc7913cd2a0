"""The server, put together: create_app(settings)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from fastapi import APIRouter, Depends, FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from qianka import logs
from qianka.schemas.base import Problem
from qianka.server import diskfull, errors, routes, uploads, website
from qianka.server.auth import signed_in
from qianka.server.events import Tail
from qianka.server.guard import Guard
from qianka.server.health import Doctor
from qianka.server.version import VERSION
from qianka.server.wake import Wake
from qianka.services.platform import Folders, Platform
from qianka.settings import Settings
from qianka.store.opening import open_store

log = logs.get("server")

AT_ONCE = 4
"""requests worked on at once: more threads only take turns at the interpreter, and the streams wait for theirs"""
INTAKE_AT_ONCE = 3
"""archives unpacked at the same time: memory stays flat however many hand in"""

_REFUSALS: dict[int | str, dict[str, object]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 503)
}
_TAGS = [
    {"name": "auth", "description": "登录与令牌 / signing in and tokens"},
    {"name": "people", "description": "名单与人员 / roster and people"},
    {"name": "cohorts", "description": "课程班 / cohorts"},
    {"name": "labs", "description": "实验 / labs"},
    {"name": "submissions", "description": "提交与回执 / hand-ins and receipts"},
    {"name": "attempts", "description": "评分 / gradings"},
    {"name": "jobs", "description": "任务与队列 / jobs and the queue"},
    {"name": "boards", "description": "排行榜、成绩、额度 / boards, grades, budgets"},
    {"name": "events", "description": "实时事件 / live events"},
    {"name": "system", "description": "状态与版本 / health and version"},
]


def create_app(settings: Settings, platform: Platform | None = None) -> FastAPI:
    """The application on the data directory of `settings`; tests may pass a `platform` of their own."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        served = platform or open_platform(settings)
        app.state.platform = served
        app.state.doctor = Doctor(served)
        anyio.to_thread.current_default_thread_limiter().total_tokens = AT_ONCE
        app.state.intake = anyio.CapacityLimiter(INTAKE_AT_ONCE)
        app.state.tail = Tail(served)
        left = uploads.sweep(served)
        if left:
            log.info("removed %d unfinished uploads of an earlier server", left)
        app.state.tail.start()
        yield
        await app.state.tail.stop()
        if platform is None:
            served.store.close()

    app = FastAPI(
        title="Qianka",
        version=VERSION,
        summary="千卡：大学人工智能课程与显卡平台 / an AI course and its GPUs as one system",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        openapi_tags=_TAGS,
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.website = website.Website()
    app.add_middleware(Guard, settings=settings, refuse=lambda scope, error: errors.refuse(scope, error))
    if settings.server_trusted_proxies:
        # Outermost: whoever asks by way of a trusted proxy is known by their own address to all that follows.
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=settings.server_trusted_proxies)
    errors.install(app)
    diskfull.install(app)
    api = APIRouter(prefix="/api", responses=_REFUSALS)
    for router in routes.PUBLIC:
        api.include_router(router)
    for router in routes.PRIVATE:
        api.include_router(router, dependencies=[Depends(signed_in)])
    app.include_router(api)
    app.mount(website.PLACE, website.BuiltFiles(directory=website.BUILT, check_dir=False), name="static")
    app.router.default = website.show
    return app


def open_platform(settings: Settings) -> Platform:
    """The platform on a data directory: folders made, database opened, the worker within call."""
    folders = Folders(Path(settings.data_dir))
    folders.make()
    return Platform(settings=settings, store=open_store(settings), wake_worker=Wake(folders.run / "worker.sock"))
