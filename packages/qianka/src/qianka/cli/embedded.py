"""A platform of one's own for a while: started on a data directory, spoken to through the client."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qianka import settings
from qianka.cli import output
from qianka.errors import Text, Unavailable

if TYPE_CHECKING:
    from qianka.client.api import Client

START = 60.0
"""seconds within which it answers, or not at all"""


@dataclass
class Handle:
    """A running embedded platform; `token` is the administrator's."""

    url: str
    token: str
    data_dir: Path
    process: subprocess.Popen[bytes]

    def client(self) -> Client:
        """The administrator's client."""
        from qianka.client.api import Client
        from qianka.client.transport import Transport

        return Client(Transport(self.url, self.token, output.language()))

    def stop(self) -> None:
        """End it and wait; its data stay."""
        if self.process.stdin is not None:
            self.process.stdin.close()  # it ends when its standard input does
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def start(data_dir: Path, *, log: Path | None = None, **values: Any) -> Handle:
    """Start a platform on `data_dir`; `values` are settings by field name (`server_port=0`).

    The student runtime is the one of the caller's own settings. `log`: where the parts' log goes
    (None: DATA/run/platform.log). Raises Unavailable with the end of the log when it does not come up.
    """
    _need_server()
    names = {name: key for key, name in settings.KEYS.items()}
    given: dict[str, Any] = {"server.port": 0, "data.dir": str(data_dir.absolute())}
    given |= {names[name]: value for name, value in values.items()}
    given.setdefault("runtime.dir", str(find_runtime()))
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    (data_dir / "run").mkdir(exist_ok=True, mode=0o700)
    log = log or data_dir / "run" / "platform.log"
    with open(log, "ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "qianka.cli", "up", "--embedded"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env=settings.with_environment(given),
            start_new_session=True,
        )
    said = _first_line(process)
    if said is None:
        process.kill()
        process.wait()
        raise Unavailable(
            Text("临时平台没有启动", "the embedded platform did not start"),
            Text(f"日志末尾：{_end_of(log)}", f"the end of its log: {_end_of(log)}"),
            log=str(log),
        )
    token = Path(said["token_file"]).read_text("utf-8").strip()
    return Handle(said["address"], token, data_dir, process)


@contextmanager
def temporary(**values: Any) -> Iterator[Handle]:
    """A platform in a temporary folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="qianka-", ignore_cleanup_errors=True) as folder:
        handle = start(Path(folder) / "data", **values)
        try:
            yield handle
        finally:
            handle.stop()


def find_runtime() -> Path:
    """The student runtime of this machine: the one of the settings, else the demo's. It may not exist."""
    loaded = settings.load()
    own = Path(loaded.settings.runtime_dir)
    data = Path(loaded.settings.data_dir)
    of_demo = data.with_name(data.name + "-demo") / "runtime"
    if loaded.sources["runtime.dir"] == "default" and not is_runtime(own) and is_runtime(of_demo):
        return of_demo
    return own


def is_runtime(folder: Path) -> bool:
    """Whether a finished student runtime is there."""
    return (folder / "bin" / "python").exists() and (folder / "runtime.json").exists()


def need_runtime() -> Path:
    """The student runtime; raises Unavailable when none was built."""
    found = find_runtime()
    if not is_runtime(found):
        raise Unavailable(
            Text(f"还没有学生运行环境（{found}）", f"there is no student runtime yet ({found})"),
            Text("运行 qianka runtime build（约 1-2 分钟）", "run qianka runtime build (1 to 2 minutes)"),
            reason="no_runtime",
        )
    return found


def _first_line(process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    timer = threading.Timer(START, process.kill)
    timer.start()
    try:
        line = process.stdout.readline() if process.stdout is not None else b""
        said = json.loads(line)
    except ValueError:
        return None
    finally:
        timer.cancel()
    return said if isinstance(said, dict) and "address" in said else None


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")[-2000:].strip()


def _need_server() -> None:
    from importlib.util import find_spec

    if find_spec("fastapi") is None or find_spec("sqlalchemy") is None:
        raise Unavailable(
            Text("这台机器没有装服务端部分", "the server part is not installed here"),
            Text(
                "在课程仓库里运行 pip install './packages/qianka[server]'",
                "in the course's repository, run pip install './packages/qianka[server]'",
            ),
            reason="no_server",
        )
