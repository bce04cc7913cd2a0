"""`qianka login`: sign in, and remember the platform's key for its receipts."""

from __future__ import annotations

import socket
from typing import Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import Json
from qianka.cli.output import t
from qianka.client.credentials import Credential, KnownKey
from qianka.errors import BadInput, Text

app = common.new_app("登录一个平台，记住令牌", "sign in to a platform and remember the token")


@app.command(help=t("登录一个平台，记住令牌", "sign in to a platform and remember the token"))
def login(
    address: Annotated[str, typer.Argument(help=t("平台地址", "address of the platform"))],
    name: Annotated[str, typer.Argument(metavar="LOGIN", help=t("登录名", "login"))],
    activate: Annotated[
        str | None, typer.Option("--activate", help=t("一次性激活码；- 表示输入时询问", "one-time code; -: ask for it"))
    ] = None,
    json: Json = False,
) -> None:
    from qianka.client.api import Client
    from qianka.client.transport import Transport

    with Client(Transport(address, None, output.language(), tries=3)) as client:
        if activate is None:
            password = output.ask_secret("密码", "password")
        else:
            code = output.ask_secret("激活码", "one-time code") if activate == "-" else activate
            password = _new_password()
            client.activate(name, code, password)
        signed_in = client.login(name, password, note=f"qianka login @ {socket.gethostname()}")
        wallet = common.wallet()
        wallet.save(Credential(client.transport.address, signed_in.me.login, signed_in.token or ""))
        key = signed_in.key
        wallet.remember_key(KnownKey(key.key_id, key.public_key, client.transport.address))
    if output.result({"address": client.transport.address, "me": signed_in.me, "expires_at": signed_in.expires_at}):
        return
    me = signed_in.me
    output.say(Text(f"已登录：{me.name}（{me.login}）", f"signed in: {me.name} ({me.login})"))
    for one in me.cohorts:
        output.say(f"  {one.cohort}  {one.title}  {common.role_text(one.role)}")


def _new_password() -> str:
    password = output.ask_secret("新密码", "new password")
    if output.ask_secret("再输一次", "once more") != password:
        raise BadInput(Text("两次输入的密码不同", "the two passwords differ"))
    return password
