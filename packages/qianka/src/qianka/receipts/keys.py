"""The platform's signing key: one file, readable by the service alone, made once."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from qianka.errors import ConfigError, Text


@dataclass(frozen=True)
class Key:
    """An Ed25519 key; `public` is its public half in base64, `key_id` a short name made from it."""

    private: Ed25519PrivateKey
    public: str
    key_id: str


def key_id_of(public: str) -> str:
    """The short name of a public key in base64."""
    return "k-" + hashlib.sha256(public.encode("ascii")).hexdigest()[:16]


def load_or_make_key(path: Path) -> Key:
    """The key in the file `path`, made with mode 0600 when there is none.

    Several processes that start at once get the same key. Raises ConfigError when the file is no key.
    """
    try:
        return _load(path)
    except FileNotFoundError:
        pass
    fresh = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(fresh)
        file.flush()
        os.fsync(descriptor)
    try:
        with contextlib.suppress(FileExistsError):  # another process was quicker: its key is the key
            os.link(beside, path)
    finally:
        beside.unlink()
    return _load(path)


def _load(path: Path) -> Key:
    data = path.read_bytes()
    try:
        private = serialization.load_pem_private_key(data, password=None)
        if not isinstance(private, Ed25519PrivateKey):
            raise TypeError("another kind of key")
    except (ValueError, TypeError) as error:
        raise ConfigError(
            Text(f"{path} 不是签名密钥", f"{path} is no signing key"),
            Text(
                "从备份恢复这个文件；换新密钥会让旧回执无法验证",
                "restore it from a backup; with a new one old receipts no longer verify",
            ),
        ) from error
    public = base64.b64encode(private.public_key().public_bytes_raw()).decode("ascii")
    return Key(private, public, key_id_of(public))
