"""pip (or uv, where there is one) inside the student runtime, and where torch comes from."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from qianka.errors import Text, Unavailable

Source = Literal["local", "cpu-index", "default-index"]

PATIENCE = 4.0
"""seconds that an index may take to answer before the next source is tried"""

_TRANSLATED = {"find-links": "--find-links", "index-url": "--index-url", "extra-index-url": "--extra-index-url"}


@dataclass(frozen=True)
class Installer:
    """Installs packages into the environment of `python`; what it says goes to `log`."""

    python: Path
    log: Path
    uv: str | None = None

    def install(self, *arguments: str, timeout: float = 3600) -> bool:
        """Whether the installation worked; the reason stands at the end of the log."""
        with self.log.open("ab") as log:
            log.write(f"== install {' '.join(arguments)}\n".encode())
            log.flush()
            ended = subprocess.run(
                [*self._command(), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                umask=0o022,  # runs have uids of their own and must be able to read it
            )
        return ended.returncode == 0

    def _command(self) -> list[str]:
        if self.uv is None:
            pip = [str(self.python), "-I", "-m", "pip", "install"]
            return [*pip, "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        # uv does not read pip's configuration, so it is handed what the site wrote there.
        uv = [self.uv, "pip", "install", "--python", str(self.python), "--compile-bytecode"]
        return [*uv, "--index-strategy", "unsafe-best-match", *self._site_options()]

    def _site_options(self) -> list[str]:
        listed = subprocess.run(
            [str(self.python), "-I", "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=60
        )
        return site_options(listed.stdout.splitlines())


def site_options(lines: Sequence[str]) -> list[str]:
    """Options for uv out of the lines of `pip config list` (`global.find-links='/a /b'`); the last of a name counts."""
    values: dict[str, list[str]] = {}
    for line in lines:
        key, _, value = line.partition("=")
        name = key.rpartition(".")[2]
        if name in _TRANSLATED and value:
            values[name] = str(ast.literal_eval(value)).split()
    return [part for name, words in values.items() for word in words for part in (_TRANSLATED[name], word)]


def find_uv() -> str | None:
    """uv's path, where it is installed: ten times as fast, never needed."""
    return shutil.which("uv")


def answers(index: str) -> bool:
    """Whether the package index at `index` can be reached within PATIENCE seconds."""
    if index.startswith("file://"):
        return Path(index.removeprefix("file://")).is_dir()
    try:
        answer = httpx.head(f"{index.rstrip('/')}/torch/", timeout=PATIENCE, follow_redirects=True)
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
    return answer.status_code < 400


def install_torch(
    installer: Installer, requirement: str, *, index: str, cards: bool, say: Callable[[str], None]
) -> Source:
    """Install torch alone and say where it came from.

    Without a card: the site's own find-links folder, then `index` (PyTorch's CPU builds), then the
    default index, whose Linux build carries CUDA and is ten times as big; said before it is fetched.
    Raises Unavailable when no source works.
    """
    if not cards:
        if installer.install("--no-index", "--no-deps", requirement):
            say(f"{requirement}：来自本机的安装包目录 / {requirement}: from this machine's own folder of packages")
            return "local"
        if answers(index):
            say(f"下载 {requirement} 的 CPU 版，约 190 MB / fetching the CPU build of {requirement}, about 190 MB")
            if installer.install("--no-deps", "--index-url", index, requirement):
                return "cpu-index"
        say(f"CPU 版索引连不上：{index} / the index of CPU builds does not answer: {index}")
    say(
        f"从默认索引下载 {requirement}：在 Linux 上是 CUDA 版，下载约 3 GB，占盘约 6 GB / "
        f"fetching {requirement} from the default index: on Linux the CUDA build, about 3 GB to fetch, 6 GB on disk"
    )
    # With a card `index` adds builds for another CUDA, or is a mirror nearby.
    if installer.install(*(["--extra-index-url", index] if cards and index else []), requirement):
        return "default-index"
    raise Unavailable(
        Text(f"装不上 {requirement}：{last_words(installer.log)}", f"{requirement}: {last_words(installer.log)}"),
        Text(
            f"检查网络，或把镜像写进设置 mirror.torch_cpu（有显卡：mirror.torch_cuda）；详细记录：{installer.log}",
            f"check the network, or name a mirror in the setting mirror.torch_cpu (with a card: mirror.torch_cuda); "
            f"the full record: {installer.log}",
        ),
    )


def last_words(log: Path) -> str:
    """The last line of an installation's log that says something."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
