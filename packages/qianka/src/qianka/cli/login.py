"""`qianka login`: sign in, and remember the platform's key for its receipts."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.client.credentials import Credential, KnownKey
from qianka.errors import BadInput, Forbidden, Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.schemas.auth import Me

app = common.new_app("登录一个平台，记住令牌", "sign in to a platform and remember the token")


@app.command(help=t("登录一个平台，记住令牌", "sign in to a platform and remember the token"))
def login(
    address: Annotated[str, typer.Argument(help=t("平台地址", "address of the platform"))],
    name: Annotated[str | None, typer.Argument(metavar="LOGIN", help=t("登录名", "login"))] = None,
    activate: Annotated[
        str | None, typer.Option("--activate", help=t("一次性激活码；- 表示输入时询问", "one-time code; -: ask for it"))
    ] = None,
    token: Annotated[
        bool,
        typer.Option(
            "--token",
            help=t(
                "用网页“我的令牌”里生成的令牌（统一认证登录的人用）", "with a token made on the page of one's tokens"
            ),
        ),
    ] = False,
    method: Annotated[
        str, typer.Option("--method", help=t("local（平台账户）或 ldap（校园账户）", "local or ldap (campus account)"))
    ] = "local",
    fingerprint: Annotated[
        str | None,
        typer.Option(
            "--fingerprint", help=t("平台自制证书的 SHA-256 指纹", "SHA-256 of the platform's own certificate")
        ),
    ] = None,
    json: Json = False,
) -> None:
    from qianka.client.api import Client
    from qianka.client.transport import Transport, normal_address

    address = normal_address(address)
    certificate = _certificate(address, fingerprint)
    secret = output.ask_secret("令牌", "token") if token else None
    with Client(Transport(address, secret, output.language(), certificate=certificate, tries=3)) as client:
        if secret is None:
            me, secret, expires = _by_password(client, name, activate, method)
        else:
            me, expires = client.me(), None
        key = client.platform_key()
    wallet = common.wallet()
    wallet.save(Credential(address, me.login, secret, certificate))
    wallet.remember_key(KnownKey(key.key_id, key.public_key, address))
    if output.result({"address": address, "me": me, "expires_at": expires}):
        return
    output.say(Text(f"已登录：{me.name}（{me.login}）", f"signed in: {me.name} ({me.login})"))
    for one in me.cohorts:
        output.say(f"  {one.cohort}  {one.title}  {common.role_text(one.role)}")


def _by_password(client: Client, name: str | None, activate: str | None, method: str) -> tuple[Me, str, object]:
    if name is None:
        raise BadInput(
            Text("缺登录名", "the login is missing"),
            Text("qianka login 地址 登录名；有令牌就用 --token", "qianka login ADDRESS LOGIN; with a token: --token"),
        )
    if activate is None:
        password = output.ask_secret("密码", "password")
    else:
        code = output.ask_secret("激活码", "one-time code") if activate == "-" else activate
        password = _new_password()
        client.activate(name, code, password)
    found = client.login(name, password, note=f"qianka login @ {socket.gethostname()}", method=method)
    return found.me, found.token or "", found.expires_at


def _certificate(address: str, fingerprint: str | None) -> str:
    """What to trust for `address` besides this machine's authorities; raises Forbidden where nobody vouches for it."""
    from qianka.client import certificates

    if not address.startswith("https://"):
        return ""
    if fingerprint is not None:
        return certificates.pinned(address, fingerprint)
    if certificates.is_trusted(address):
        return ""
    shown = certificates.fingerprint(certificates.shown_by(address))
    raise Forbidden(
        Text(
            f"{address} 的证书没有机构担保，指纹是 {shown}", f"nobody vouches for the certificate of {address}: {shown}"
        ),
        Text(
            "与管理员公布的指纹核对，相同就加上 --fingerprint 指纹",
            "compare it with the one that the operator tells; if it is the same, add --fingerprint FINGERPRINT",
        ),
        reason="fingerprint",
    )


def _new_password() -> str:
    password = output.ask_secret("新密码", "new password")
    if output.ask_secret("再输一次", "once more") != password:
        raise BadInput(Text("两次输入的密码不同", "the two passwords differ"))
    return password
