"""A platform that serves other machines: by TLS, or not at all."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from qianka.client import certificates
from qianka.settings import Settings, check_exposure

EVERYWHERE = "0.0.0.0"  # noqa: S104  named, to be refused


@dataclass(frozen=True)
class Served:
    """What `qianka up --public --json` said of itself."""

    address: str
    fingerprint: str
    code: str
    data_dir: Path


def qianka(*arguments: str, home: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QIANKA_CONFIG_DIR": str(home), "QIANKA_LANGUAGE": "en"}
    return subprocess.run(
        [sys.executable, "-m", "qianka.cli", *arguments],
        input=typed,
        text=True,
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # Of the user that serves when started by root, as a directory of the system is.
    data_dir = tmp_path_factory.mktemp("public") / "data"
    up = [sys.executable, "-m", "qianka.cli", "up", "--public", "--port", "0", "--isolation", "none", "--json"]
    process = subprocess.Popen(
        [*up, "--data-dir", str(data_dir)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QIANKA_SERVICE_USER": "root"},
    )
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    port = told["address"].rpartition(":")[2]
    yield Served(f"https://127.0.0.1:{port}", told["fingerprint"], told["code"], data_dir)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_the_fingerprint_that_is_told_is_that_of_the_certificate(served: Served) -> None:
    assert certificates.fingerprint(certificates.shown_by(served.address)) == served.fingerprint
    assert not certificates.is_trusted(served.address)
    assert (served.data_dir / "tls" / "key.pem").stat().st_mode & 0o077 == 0


def test_the_pages_come_by_tls_and_never_in_the_clear(served: Served) -> None:
    context = certificates.context_of(certificates.pinned(served.address, served.fingerprint))
    answer = httpx.get(f"{served.address}/api/health", verify=context, trust_env=False)
    assert answer.status_code == 200
    # A browser that insists on TLS would let nobody past the warning that our own certificate brings.
    assert "strict-transport-security" not in answer.headers
    with pytest.raises(httpx.TransportError):
        httpx.get(served.address.replace("https:", "http:") + "/api/health", trust_env=False)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.address}/api/health", trust_env=False)


def test_the_session_of_a_browser_is_for_tls_alone(served: Served, tmp_path: Path) -> None:
    typed = "a long password 7\na long password 7\n"
    code = ["login", served.address, "admin", "--activate", served.code]
    unknown = qianka(*code, home=tmp_path, typed=typed)
    assert unknown.returncode == 5
    assert served.fingerprint in unknown.stderr
    wrong = qianka(*code, "--fingerprint", "00" * 32, home=tmp_path, typed=typed)
    assert wrong.returncode == 5
    assert "do not go on" in wrong.stderr
    right = qianka(*code, "--fingerprint", served.fingerprint.lower(), home=tmp_path, typed=typed)
    assert right.returncode == 0, right.stderr
    listed = qianka("cohort", "list", "--json", home=tmp_path)
    assert listed.returncode == 0, listed.stderr
    context = certificates.context_of(certificates.pinned(served.address, served.fingerprint))
    body = {"login": "admin", "password": "a long password 7"}
    answer = httpx.post(f"{served.address}/api/auth/login", json=body, verify=context, trust_env=False)
    assert answer.status_code == 200
    assert "secure" in answer.headers["set-cookie"].lower()


def test_other_machines_are_not_served_in_the_clear(tmp_path: Path) -> None:
    refused = qianka("up", "--host", EVERYWHERE, "--port", "0", "--data-dir", str(tmp_path / "d"), home=tmp_path)
    assert refused.returncode == 3
    assert "--public" in refused.stderr


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    config = tmp_path / "qianka.toml"
    config.write_text(f'[server]\ncertificate = "{tmp_path}/none.pem"\nkey = "{tmp_path}/none.key"\n')
    up = ["up", "--public", "--port", "0", "--isolation", "none", "--data-dir", str(tmp_path / "d")]
    refused = qianka(*up, "--config", str(config), home=tmp_path)
    assert refused.returncode != 0
    assert "none.pem" in refused.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.1.1", "::1", "localhost"])
def test_this_machine_alone_needs_no_tls(host: str) -> None:
    check_exposure(Settings(server_host=host))


def test_behind_a_proxy_that_is_named_it_is_the_proxys_matter() -> None:
    check_exposure(Settings(server_host=EVERYWHERE, server_trusted_proxies="10.0.0.0/8"))


def test_the_context_trusts_no_other_certificate(served: Served) -> None:
    from qianka.server.certificates import make_certificate

    other, _ = make_certificate(["127.0.0.1"])
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.address}/api/health", verify=certificates.context_of(other.decode()), trust_env=False)
    assert certificates.context_of(other.decode()).verify_mode is ssl.CERT_REQUIRED
