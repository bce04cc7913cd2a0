"""`qianka receipt verify`: offline, trusted only by a key one signed in to, and every edit shows."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from qianka import receipts
from qianka.cli.main import main
from qianka.client.credentials import KnownKey, Wallet


@pytest.fixture
def receipt(tmp_path: Path) -> tuple[Path, receipts.Key]:
    key = receipts.load_or_make_key(tmp_path / "key.pem")
    body = receipts.make_body(
        receipt="r-1", submission="s-1", platform="Qianka", login="alice", student_number="1", cohort="c", lab="l",
        submitted_at=datetime(2026, 12, 1, tzinfo=timezone.utc), is_late=False, filename="a.zip", size=3,
        archive_sha256="0" * 64, tree_sha256="0" * 64, files=[], notes=[],
    )  # fmt: skip
    signed = receipts.sign(key, body)
    file = tmp_path / "a.receipt.json"
    file.write_text(receipts.render(signed.body, signed.signature, key.public), "utf-8")
    return file, key


@pytest.fixture(autouse=True)
def config_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config"
    monkeypatch.setenv("QIANKA_CONFIG_DIR", str(folder))
    return folder


def verify(file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    status = main(["receipt", "verify", str(file), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_good_but_by_a_stranger(receipt: tuple[Path, receipts.Key], capsys: pytest.CaptureFixture[str]) -> None:
    status, told = verify(receipt[0], capsys)
    assert (status, told["valid"], told["trusted"]) == (0, True, False)


def test_good_and_by_a_platform_one_signed_in_to(
    receipt: tuple[Path, receipts.Key], config_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key = receipt
    Wallet(config_dir).remember_key(KnownKey(key.key_id, key.public, "http://ours"))
    status, told = verify(file, capsys)
    assert (status, told["trusted"], told["platform"]) == (0, True, "http://ours")


@pytest.mark.parametrize("edit", [("alice", "mallory"), ("2026-12-01", "2026-11-01"), ("0000", "0001")])
def test_an_edit_shows(
    receipt: tuple[Path, receipts.Key], capsys: pytest.CaptureFixture[str], edit: tuple[str, str]
) -> None:
    file, _ = receipt
    file.write_text(file.read_text("utf-8").replace(*edit, 1), "utf-8")
    status, told = verify(file, capsys)
    assert (status, told["code"]) == (7, "refused")


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff\xfe", b"[" * 5000])
def test_no_receipt_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    assert verify(file, capsys)[0] == 7


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(tmp_path / "none", capsys)[0] == 6
