"""`qianka up`: launcher (when root), server and worker, kept going until Ctrl-C."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from qianka import settings
from qianka.cli import common, identity, output
from qianka.cli.common import Json
from qianka.cli.lock import DataLock
from qianka.cli.output import t
from qianka.cli.owner import as_owner
from qianka.cli.processes import Part, Parts
from qianka.client.credentials import write_private
from qianka.errors import Conflict, Text
from qianka.settings import Settings

app = common.new_app("启动平台：服务、调度、评分", "start the platform: server, dispatcher, grader")

TOKEN_FILE = "admin.token"  # noqa: S105  a file name


@app.command(help=t("启动平台：服务、调度、评分；Ctrl-C 停止", "start the platform; Ctrl-C stops it"))
def up(
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help=t("数据目录", "data directory"))] = None,
    config: Annotated[Path | None, typer.Option("--config", help=t("配置文件", "settings file"))] = None,
    host: Annotated[str | None, typer.Option("--host", help=t("监听地址", "address to listen on"))] = None,
    port: Annotated[int | None, typer.Option("--port", help=t("端口；0 为任选", "port; 0: any"))] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public",
            help=t(
                "对外服务，加密；没有证书就自制一张并显示指纹",
                "serve other machines by TLS; without a certificate one is made",
            ),
        ),
    ] = False,
    isolation: Annotated[
        str | None,
        typer.Option(
            "--isolation",
            help=t("auto、bubblewrap、podman、docker 或 none", "auto, bubblewrap, podman, docker or none"),
        ),
    ] = None,
    embedded: Annotated[bool, typer.Option("--embedded", hidden=True)] = False,
    json: Json = False,
) -> None:
    overrides: dict[str, Any] = {
        "data.dir": None if data_dir is None else str(data_dir.absolute()),
        "server.host": host,
        "server.port": port,
        "server.public": True if public else None,
        "sandbox.backend": isolation,
        "sandbox.minimum": "none" if isolation == "none" else None,
    }
    loaded = settings.load(config, overrides=overrides)
    if loaded.settings.server_public and loaded.sources["server.host"] == "default":
        overrides["server.host"] = "0.0.0.0"  # noqa: S104  that is what public means
        loaded = settings.load(config, overrides=overrides)
    found = loaded.settings
    settings.check_exposure(found)
    Platform(found, config, overrides, is_embedded=embedded).run()


class Platform:
    """All parts of one platform on one data directory."""

    def __init__(self, found: Settings, file: Path | None, overrides: dict[str, Any], *, is_embedded: bool) -> None:
        self.settings = found
        self.data_dir = Path(found.data_dir)
        self.is_embedded = is_embedded
        given = {key: value for key, value in overrides.items() if value is not None}
        given |= {"data.dir": found.data_dir, "runtime.dir": found.runtime_dir}
        self.environment = settings.with_environment(given)
        if file is not None:
            self.environment["QIANKA_CONFIG"] = str(file.absolute())
        self.address = ""
        self.told = False

    def run(self) -> None:
        """Until Ctrl-C."""
        lock = DataLock(self.data_dir)
        listener = self._listen()
        port = listener.getsockname()[1]
        self.address = self._address(port)
        lock.tell(address=self.address)
        who = identity.choose(self.settings.service_user, self.data_dir)
        self._tell_who(who)
        self._write_up(who)
        with as_owner(self.data_dir):
            (self.data_dir / "run" / "launcher.sock").unlink(missing_ok=True)
        parts = Parts(self._parts(listener, who), self._said)
        if self.is_embedded:
            import threading

            threading.Thread(target=_end_with_parent, args=(parts,), daemon=True).start()
        try:
            parts.run()
        finally:
            listener.close()
            with as_owner(self.data_dir):
                (self.data_dir / "run" / "up.json").unlink(missing_ok=True)
            lock.release()

    def _address(self, port: int) -> str:
        """Where people find it, as far as this machine can know."""
        found, host = self.settings, self.settings.server_host
        if found.server_public_url:
            return found.server_public_url.rstrip("/")
        is_encrypted = found.server_public or bool(found.server_certificate)
        if host in ("", "0.0.0.0", "::"):  # noqa: S104  compared, not bound
            host = socket.gethostname() if is_encrypted else "127.0.0.1"
        scheme = "https" if is_encrypted else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def _listen(self) -> socket.socket:
        """The listening socket; ours, so that it outlives a server that dies."""
        host, port = self.settings.server_host, self.settings.server_port
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listener = socket.create_server((host, port), family=family, backlog=2048)
        except OSError as error:
            raise Conflict(
                Text(f"{host}:{port} 用不了：{error.strerror}", f"{host}:{port} cannot be used: {error.strerror}"),
                Text("用 --port 换一个端口（0 为任选）", "take another port with --port (0: any)"),
                reason="port",
            ) from error
        listener.set_inheritable(True)
        return listener

    def _parts(self, listener: socket.socket, who: identity.Identity) -> list[Part]:
        environment = dict(self.environment)
        if who.user is not None:
            environment |= {"HOME": str(self.data_dir), "USER": who.user.pw_name, "LOGNAME": who.user.pw_name}
        fd = listener.fileno()
        server = [sys.executable, "-m", "qianka.server", "--child", "--fd", str(fd)]
        if self.is_embedded:
            server += ["--admin-token", str(self.data_dir / "run" / TOKEN_FILE)]
        worker = [sys.executable, "-m", "qianka.cli", "worker", "--child"]
        first = Part("server", server, environment, (fd,), who.popen())
        # They take connections from the same socket; what is done once is done by the first.
        beside = [sys.executable, "-m", "qianka.server", "--child", "--beside", "--fd", str(fd)]
        more = [
            Part(f"server {number}", beside, environment, (fd,), who.popen(), follows=first)
            for number in range(2, self._processes() + 1)
        ]
        parts = [first, *more, Part("worker", worker, environment, (), who.popen())]
        if os.geteuid() == 0 and self.settings.sandbox_backend not in ("none", "docker"):
            owner = (0, 0) if who.user is None else (who.user.pw_uid, who.user.pw_gid)
            launcher = Part("launcher", self._launcher(*owner), self.environment, ready=self._launcher_listens)
            parts[-1].after = launcher  # the worker looks once, at its start, who starts runs
            parts.insert(0, launcher)
        return parts

    def _processes(self) -> int:
        """How many servers: an interpreter uses one core at a time."""
        if self.is_embedded and self.settings.server_processes == 0:
            return 1
        return self.settings.server_processes or min(2, os.cpu_count() or 1)

    def _launcher(self, uid: int, gid: int) -> list[str]:
        """The command line of the launcher: by path and without site-packages, it imports next to nothing."""
        import qianka.launcher as package

        script = str(Path(package.__path__[0]) / "__main__.py")
        found = self.settings
        options = ["--service-uid", str(uid), "--service-gid", str(gid), "--uid-base", str(found.sandbox_uid_base)]
        options += ["--uid-count", str(found.sandbox_uid_count), "--allow", found.runtime_dir]
        options += ["--backend", found.sandbox_backend]
        if found.sandbox_image:
            options += ["--image", found.sandbox_image]
        if found.engine_name == "slurm":
            options += ["--slurm", found.slurm_conf, "--slurm-group", found.slurm_group]
        if (Path(found.runtime_dir) / "bin" / "python").exists():
            options += ["--runtime", found.runtime_dir]
        return [sys.executable, "-I", "-S", script, str(self.data_dir.absolute()), *options]

    def _launcher_listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as caller:
            try:
                caller.connect(str(self.data_dir / "run" / "launcher.sock"))
            except OSError:
                return False
        return True

    def _said(self, part: Part, facts: dict[str, Any]) -> None:
        if part.name != "server" or not facts.get("ready") or self.told:
            return
        self.told = True
        if output.mode.json or self.is_embedded:
            token = str(self.data_dir / "run" / TOKEN_FILE) if self.is_embedded else None
            told = {key: facts.get(key) for key in ("code", "fingerprint")}
            output.line({"address": self.address, "pid": os.getpid(), "token_file": token, **told})
            return
        output.say(Text(f"千卡已启动：{self.address}", f"Qianka is up: {self.address}"))
        if facts.get("fingerprint"):
            output.say(
                Text(
                    "证书是自制的，浏览器会警告一次；核对它的 SHA-256 指纹再继续：",
                    "the certificate is of our own making, browsers warn once; compare its SHA-256 fingerprint:",
                )
            )
            output.say(f"  {facts['fingerprint']}")
        if facts.get("code"):
            login, code = facts["login"], facts["code"]
            output.say(
                Text(
                    f"管理员 {login} 的一次性激活码（只显示这一次）：{code}",
                    f"one-time code of the administrator {login} (shown this once): {code}",
                )
            )
            output.say(f"  qianka login {self.address} {login} --activate {code}")
        output.say(Text("按 Ctrl-C 停止", "Ctrl-C stops it"))

    def _tell_who(self, who: identity.Identity) -> None:
        if who.why is None or self.is_embedded:
            return
        output.note(Text(f"注意：服务以 root 运行，因为{who.why.zh}", f"note: serving as root, because {who.why.en}"))
        if who.fix is not None:
            output.note(Text(f"  {who.fix.zh}", f"  {who.fix.en}"))

    def _write_up(self, who: identity.Identity) -> None:
        path = self.data_dir / "run" / "up.json"
        facts: dict[str, Any] = {"pid": os.getpid(), "address": self.address, "embedded": self.is_embedded}
        if who.why is not None:
            facts["kept_root"] = {**who.why._asdict(), **({"fix": list(who.fix)} if who.fix else {})}
        with as_owner(self.data_dir):
            write_private(path, json.dumps(facts, ensure_ascii=False))


def _end_with_parent(parts: Parts) -> None:
    while os.read(0, 1024):
        pass
    parts.stop()
