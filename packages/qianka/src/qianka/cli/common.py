"""What commands share: how an app is made, the --json option, and the client that speaks for the person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qianka import settings
from qianka.cli import output
from qianka.cli.output import t
from qianka.client.credentials import Wallet
from qianka.errors import BadInput, NotFound, Text

if TYPE_CHECKING:
    from qianka.client.api import Client


def new_app(zh: str, en: str, *, group: bool = False) -> typer.Typer:
    """A command, or a group of them, without what makes Typer slow or talkative."""
    app = typer.Typer(
        help=t(zh, en),
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=group,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    if group:
        # With a callback Typer keeps the name of a single command: `qianka receipt verify`.
        app.callback()(lambda: None)
    return app


def _set_json(value: bool) -> bool:
    output.mode.json = value
    return value


Json = Annotated[bool, typer.Option("--json", callback=_set_json, is_eager=True, help=t("输出 JSON", "print JSON"))]
CohortOption = Annotated[
    str | None,
    typer.Option(
        "--cohort", "-c", help=t("课程班；只在一个班里时可省略", "the cohort; not needed when you are in one")
    ),
]
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", help=t("文件编码，猜错时指定", "when the guess is wrong"))
]


_ROLES = {
    "student": Text("学生", "student"),
    "assistant": Text("助教", "assistant"),
    "teacher": Text("教师", "teacher"),
}
_STATES = {"active": Text("在册", "active"), "dropped": Text("停用", "dropped")}


def role_text(role: str | None) -> str | None:
    """A role in words of the terminal's language."""
    return None if role is None else _ROLES.get(role, Text(role, role)).say(output.language())


def state_text(state: str) -> str:
    """The state of an enrollment in words of the terminal's language."""
    return _STATES.get(state, Text(state, state)).say(output.language())


def load_settings() -> settings.Settings:
    """The settings of this process."""
    return settings.load().settings


def wallet() -> Wallet:
    """Credentials and known keys of the person."""
    return Wallet(Path(load_settings().config_dir))


def client() -> Client:
    """The client of whoever is signed in; raises NotSignedIn."""
    from qianka.client.api import Client
    from qianka.client.transport import Transport

    current = wallet().current()
    return Client(Transport(current.address, current.token, output.language(), certificate=current.certificate))


def one_cohort(speaker: Client, given: str | None) -> str:
    """The cohort that is meant: the given one, or the only one the caller is in (an administrator: that there is)."""
    if given is not None:
        return given
    me = speaker.me()
    mine = [one.cohort for one in me.cohorts if one.state == "active"]
    if not mine and me.is_admin:
        mine = [one.slug for one in speaker.cohorts()]
    if len(mine) == 1:
        return mine[0]
    if not mine and me.is_admin:
        raise NotFound(
            Text("还没有课程班", "there is no cohort yet"),
            Text("建一个：qianka cohort create", "make one: qianka cohort create"),
        )
    if not mine:
        raise NotFound(
            Text("你还不在任何课程班里", "you are in no cohort yet"),
            Text("请教师把你加进名单，或用 --cohort 指定", "ask the teacher to add you, or name one with --cohort"),
        )
    raise BadInput(
        Text(f"有多个课程班：{'、'.join(mine)}", f"there are several cohorts: {', '.join(mine)}"),
        Text("用 --cohort 指定一个", "name one with --cohort"),
        reason="which_cohort",
    )
