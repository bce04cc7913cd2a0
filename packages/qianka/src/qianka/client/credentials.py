"""What the command line remembers of its person: addresses, tokens, and keys of known platforms.

Standard library only: `qianka receipt verify` reads keys without loading an HTTP client.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from qianka.errors import ConfigError, NotSignedIn, Text


class Credential(NamedTuple):
    """Where one is signed in, and as whom; `certificate`: PEM, of a platform that no authority vouches for."""

    address: str
    login: str
    token: str
    certificate: str = ""


class KnownKey(NamedTuple):
    """The public key of a platform one signed in to; a receipt signed with it is trusted."""

    key_id: str
    public_key: str
    address: str


class Wallet:
    """The folder `config.dir`: credentials.json (mode 0600) and keys/."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "credentials.json"

    def current(self) -> Credential:
        """The sign-in that commands use; raises NotSignedIn."""
        known = self._read()
        address = str(known.get("current", ""))
        entry = known.get("servers", {}).get(address)
        if not isinstance(entry, dict):
            raise NotSignedIn(
                Text("还没有登录", "not signed in yet"),
                Text("先运行 qianka login 地址 登录名", "first: qianka login ADDRESS LOGIN"),
            )
        return Credential(address, *(str(entry.get(key, "")) for key in ("login", "token", "certificate")))

    def save(self, credential: Credential) -> None:
        """Remember a sign-in and make it the current one."""
        known = self._read()
        kept = {key: value for key, value in credential._asdict().items() if key != "address" and value}
        known.setdefault("servers", {})[credential.address] = kept
        known["current"] = credential.address
        write_private(self.file, json.dumps(known, ensure_ascii=False, indent=1))

    def forget(self, address: str) -> None:
        """Drop a sign-in."""
        known = self._read()
        known.get("servers", {}).pop(address, None)
        write_private(self.file, json.dumps(known, ensure_ascii=False, indent=1))

    def remember_key(self, key: KnownKey) -> None:
        """Trust receipts signed with `key`."""
        write_private(self.folder / "keys" / f"{_plain(key.key_id)}.json", json.dumps(key._asdict(), indent=1))

    def known_key(self, key_id: str) -> KnownKey | None:
        """The key with that id, when one has signed in to its platform."""
        try:
            entry = json.loads((self.folder / "keys" / f"{_plain(key_id)}.json").read_text("utf-8"))
            return KnownKey(str(entry["key_id"]), str(entry["public_key"]), str(entry["address"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def known_keys(self) -> dict[str, str]:
        """Public keys by key id, of all platforms one signed in to."""
        known = (self.known_key(path.stem) for path in sorted((self.folder / "keys").glob("*.json")))
        return {key.key_id: key.public_key for key in known if key is not None}

    def _read(self) -> dict[str, Any]:
        try:
            text = self.file.read_text("utf-8")
        except FileNotFoundError:
            return {}
        try:
            known = json.loads(text)
        except ValueError as error:
            raise _broken(self.file) from error
        if not isinstance(known, dict) or not isinstance(known.get("servers", {}), dict):
            raise _broken(self.file)
        return known


def write_private(path: Path, text: str) -> None:
    """Write a whole file that only its owner may read; it appears at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _plain(key_id: str) -> str:
    return "".join(letter for letter in key_id if letter.isalnum() or letter in "-_")[:100] or "none"


def _broken(file: Path) -> ConfigError:
    return ConfigError(
        Text(f"凭据文件 {file} 坏了", f"the credentials in {file} are broken"),
        Text("删掉它，再运行 qianka login", "remove the file and run qianka login"),
    )
