"""`python -m qianka.server`: the server as a process of its own, started by `qianka up`.

Settings come from the environment; the listening socket may be inherited, so that the address
outlives this process and a connection made while it restarts waits instead of being refused.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from qianka import logs, settings
from qianka.errors import QiankaError
from qianka.server import bootstrap, certificates
from qianka.server.app import create_app, open_platform
from qianka.store.upgrade import upgrade

log = logs.get("server")

GRACE = 10
"""seconds that open requests get at the end"""


class Server(uvicorn.Server):
    """Ends live streams when it is told to stop, and tells its parent when it is ready."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: dict[str, object] | None) -> None:
        super().__init__(config)
        self.app = app
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the door, then say so."""
        await super().startup(sockets)
        if self.ready is not None and not self.should_exit:
            sys.stdout.write(json.dumps(self.ready) + "\n")
            sys.stdout.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Live streams first: they would never end by themselves."""
        self.app.state.tail.close()
        await super().shutdown(sockets)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until told to stop. What cannot be opened is told in a line of the log, not in a traceback."""
    try:
        return _serve(argv)
    except QiankaError as error:
        log.error("%s", error)
        return error.exit_code


def _serve(argv: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m qianka.server", description="the server of Qianka")
    parser.add_argument("--fd", type=int, help="a listening socket to take over")
    parser.add_argument("--child", action="store_true", help="say when ready, end when standard input ends")
    parser.add_argument("--beside", action="store_true", help="a further one: tables and administrator are there")
    parser.add_argument("--admin-token", type=Path, help="write a bearer token of the administrator here")
    options = parser.parse_args(argv)
    logs.set_up()
    found = settings.load().settings
    settings.check_exposure(found)
    platform = open_platform(found)
    certificate = certificates.certificate_of(found)
    code = None
    if not options.beside:
        upgrade(platform.store)
        code = bootstrap.first_admin(platform)
    if options.admin_token is not None:
        bootstrap.write_admin_token(platform, options.admin_token)
        code = None
    app = create_app(found, platform)
    config = uvicorn.Config(
        app,
        host=found.server_host,
        port=found.server_port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # create_app sees to them
        ssl_certfile=None if certificate is None else certificate.file,
        ssl_keyfile=None if certificate is None else str(certificate.key),
        lifespan="on",
        timeout_keep_alive=20,
        timeout_graceful_shutdown=GRACE,
    )
    ready: dict[str, object] | None = {"ready": True, "code": code, "login": bootstrap.ADMIN} if options.child else None
    if ready is not None and certificate is not None and certificate.is_ours:
        ready["fingerprint"] = certificate.fingerprint
    server = Server(config, app, ready)
    if options.child:
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    sockets = None if options.fd is None else [socket.socket(fileno=options.fd)]
    # What is loaded now stays: looking through it again and again would hold up every request.
    gc.collect()
    gc.freeze()
    server.run(sockets)
    platform.store.close()
    return 0


def _end_with_parent(server: Server) -> None:
    while os.read(0, 1024):
        pass
    server.should_exit = True


if __name__ == "__main__":
    sys.exit(main())
