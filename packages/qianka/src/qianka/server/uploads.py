"""Uploads: streamed to disk while they are hashed and counted, removed unless somebody takes them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
from fastapi import Request
from starlette.requests import ClientDisconnect

from qianka.errors import BadInput, Text
from qianka.server.guard import body_too_large
from qianka.services.platform import Platform

_BYTES = {"schema": {"type": "string", "format": "binary"}}
OPENAPI: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/octet-stream": _BYTES}},
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "schema": {"type": "string", "minLength": 8, "maxLength": 200},
        },
        {
            "name": "X-Filename",
            "in": "header",
            "schema": {"type": "string"},
            "description": "the name of the file, percent-encoded UTF-8",
        },
    ],
}
"""how the documentation of the API tells of a streamed upload"""


@dataclass(frozen=True)
class Received:
    """A complete upload, safe on disk; whoever takes it moves the file away."""

    path: Path
    size: int
    sha256: str
    filename: str


@asynccontextmanager
async def received(request: Request, platform: Platform, most: int | None = None) -> AsyncIterator[Received]:
    """The body of `request` as a file in `incoming`; what is left of it afterwards is removed.

    Raises TooLarge above the setting `server.upload_mb` or `most` bytes (counted while it streams), BadInput
    when the client broke off or sent fewer bytes than it had said.
    """
    cap = platform.settings.server_upload_mb * 1_000_000
    cap = cap if most is None else min(cap, most)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > cap:
        raise body_too_large(cap)
    with _held(platform.folders.incoming) as (path, file):
        size, sha256 = await _store(request, file, cap)
        yield Received(path, size, sha256, filename_of(request))


@contextmanager
def _held(folder: Path) -> Iterator[tuple[Path, FileIO]]:
    """A new file, locked for as long as it is being received: a process that is killed lets go of it (`sweep`)."""
    while True:
        path = folder / f"u-{secrets.token_hex(12)}"
        with open(path, "xb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink == 0:
                continue  # swept by another server before it was locked
            os.fchmod(file.fileno(), 0o600)
            try:
                yield path, file
            finally:
                path.unlink(missing_ok=True)
            return


async def _store(request: Request, file: FileIO, cap: int) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    # Chunks are at most 64 KiB and go to the page cache: quicker here than through a thread each.
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > cap:
                raise body_too_large(cap)
            digest.update(chunk)
            file.write(chunk)
    except ClientDisconnect as error:
        raise BadInput(
            Text("上传中断", "the upload broke off"),
            Text("用同一个 Idempotency-Key 重新上传", "send it again with the same Idempotency-Key"),
            reason="broken_off",
        ) from error
    await anyio.to_thread.run_sync(os.fsync, file.fileno())
    if size == 0:
        raise BadInput(Text("上传的文件是空的", "the upload is empty"), reason="empty_upload")
    return size, digest.hexdigest()


def filename_of(request: Request) -> str:
    """The name the person gave the file: X-Filename, percent-encoded UTF-8; only its last part."""
    try:
        name = unquote(request.headers.get("x-filename", ""), errors="strict")
    except UnicodeDecodeError as error:
        raise BadInput(Text("X-Filename 不是百分号编码的 UTF-8", "X-Filename is not percent-encoded UTF-8")) from error
    return plain_filename(name)


def plain_filename(name: str) -> str:
    """A file name without folders and control characters, at most 200 characters."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(letter for letter in name if letter.isprintable())
    return name[:200] or "handin"


def idempotency_key(request: Request) -> str:
    """The key that makes a repeated hand-in the same one; raises BadInput when it is missing."""
    key = request.headers.get("idempotency-key", "").strip()
    if not 8 <= len(key) <= 200 or not key.isascii() or not key.isprintable():
        raise BadInput(
            Text("缺少 Idempotency-Key", "the header Idempotency-Key is missing"),
            Text(
                "每份提交取一个 8–200 个字符的随机值，重试时不变",
                "8 to 200 random characters a hand-in, the same on retry",
            ),
            reason="no_idempotency_key",
        )
    return key


def sweep(platform: Platform) -> int:
    """Remove what killed servers left in `incoming`, and nothing that a living one receives; how many files."""
    count = 0
    for path in platform.folders.incoming.glob("u-*"):
        with suppress(FileNotFoundError, BlockingIOError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
            count += 1
    return count
