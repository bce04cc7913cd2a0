"""What the command line remembers: readable by its owner alone, whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from qianka.client.credentials import Credential, KnownKey, Wallet, write_private
from qianka.errors import ConfigError, NotSignedIn


def test_a_sign_in_is_remembered_for_its_owner_alone(tmp_path: Path) -> None:
    wallet = Wallet(tmp_path / "config")
    wallet.save(Credential("http://a", "alice", "t1"))
    wallet.save(Credential("http://b", "alice", "t2"))
    assert wallet.current() == Credential("http://b", "alice", "t2")
    assert stat.S_IMODE(wallet.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(wallet.folder.stat().st_mode) & 0o077 == 0
    wallet.forget("http://b")
    with pytest.raises(NotSignedIn):
        wallet.current()


def test_nobody_is_signed_in_at_first(tmp_path: Path) -> None:
    with pytest.raises(NotSignedIn):
        Wallet(tmp_path).current()


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"servers": 3}'])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "credentials.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"credentials\.json"):
        Wallet(tmp_path).current()


def test_known_keys(tmp_path: Path) -> None:
    wallet = Wallet(tmp_path)
    wallet.remember_key(KnownKey("k-1", "abc", "http://a"))
    assert wallet.known_key("k-1") == KnownKey("k-1", "abc", "http://a")
    assert wallet.known_keys() == {"k-1": "abc"}
    assert wallet.known_key("../credentials") is None


def test_a_secret_is_never_readable_by_others_on_the_way(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("old", "utf-8")
    target.chmod(0o644)
    write_private(target, "new")
    assert target.read_text("utf-8") == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
