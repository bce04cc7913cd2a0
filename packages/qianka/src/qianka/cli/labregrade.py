"""`qianka lab regrade start|show|apply|drop|list`: rehearse, look, then let it count."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from qianka.cli import common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.labdates import LabArgument, ReasonOption
from qianka.cli.output import t
from qianka.errors import NotFound, Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.schemas.regrades import CheckChange, RegradeShown

app = common.new_app("重评：先预演再应用", "regrades: rehearsed, then applied", group=True)
_LOOK = 2.0
WaitOption = Annotated[bool, typer.Option("--wait", help=t("等到评完", "wait until all is graded"))]


@app.command(
    help=t(
        "预演：用实验的现有（或指定）版本重评已交的作业，什么都不计",
        "rehearse: grade what was handed in by the present (or a given) version; nothing counts",
    )
)
def start(
    lab: LabArgument,
    reason: ReasonOption,
    cohort: CohortOption = None,
    version: Annotated[str | None, typer.Option("--version", help=t("实验的版本", "version of the lab"))] = None,
    counting: Annotated[
        bool, typer.Option("--counting", help=t("只评现在计分的那份", "only the hand-ins that count now"))
    ] = False,
    login: Annotated[list[str] | None, typer.Option("--login", help=t("只评这些人", "only these people"))] = None,
    submission: Annotated[
        list[str] | None, typer.Option("--submission", help=t("只评这些提交", "only these hand-ins"))
    ] = None,
    wait: WaitOption = False,
    json: Json = False,
) -> None:
    with common.client() as client:
        made = client.regrades.start(
            common.one_cohort(client, cohort),
            lab,
            reason=reason,
            version=version,
            counting=counting,
            logins=login or [],
            submissions=submission or [],
        )
        found = _look(client, made.id, wait=wait)
    if not output.result(found):
        output.say(
            Text(f"重评 {made.id} 已开始，按版本 {made.version}", f"regrade {made.id} by {made.version} has begun")
        )
        _show(found)


@app.command(help=t("谁的成绩会变、变多少、为什么", "who moves, by how much, why"))
def show(lab: LabArgument, cohort: CohortOption = None, wait: WaitOption = False, json: Json = False) -> None:
    with common.client() as client:
        found = _look(client, _newest(client, common.one_cohort(client, cohort), lab), wait=wait)
    if not output.result(found):
        _show(found)


@app.command(help=t("应用：照看过的样子计分（教师）", "let it count, as it was looked at (teachers)"))
def apply(
    lab: LabArgument,
    cohort: CohortOption = None,
    digest: Annotated[
        str | None,
        typer.Option("--digest", help=t("看过的那份差异的编号（show 末尾）", "of what was looked at: see show")),
    ] = None,
    json: Json = False,
) -> None:
    """Without --digest the difference is shown and nothing is written."""
    with common.client() as client:
        regrade = _newest(client, common.one_cohort(client, cohort), lab)
        if digest is None:
            found = client.regrades.show(regrade)
            if not output.result(found):
                _show(found)
            return
        found = client.regrades.apply(regrade, digest)
    if not output.result(found):
        moved = len(found.lines)
        output.say(
            Text(f"已应用：{moved} 个成绩变了，旧成绩都留着", f"applied: {moved} grades moved; old ones are kept")
        )


@app.command(help=t("放弃这次重评", "discard the regrade"))
def drop(lab: LabArgument, cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = client.regrades.drop(_newest(client, common.one_cohort(client, cohort), lab))
    if not output.result(found):
        output.say(Text("已放弃，成绩没有变", "dropped; no grade has moved"))


@app.command("list", help=t("这个实验的重评", "the regrades of a lab"))
def list_(lab: LabArgument, cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = client.regrades.of_lab(common.one_cohort(client, cohort), lab)
    if not output.result(found):
        headings = [
            t("编号", "id"),
            t("版本", "version"),
            t("状态", "state"),
            t("成绩变动", "moved"),
            t("理由", "reason"),
        ]
        output.table(headings, [[r.id, r.version, _state(r.state), r.moved, r.reason] for r in found])


def _newest(client: Client, cohort: str, lab: str) -> str:
    """The open regrade of a lab, else the newest. Raises NotFound."""
    found = client.regrades.of_lab(cohort, lab)
    if not found:
        raise NotFound(
            Text(f"{lab} 没有重评过", f"{lab} was never regraded"),
            Text(f"qianka lab regrade start {lab} --reason …", f"qianka lab regrade start {lab} --reason …"),
            reason="no_regrade",
        )
    return next((one.id for one in found if one.state == "open"), found[0].id)


def _look(client: Client, regrade: str, *, wait: bool) -> RegradeShown:
    found = client.regrades.show(regrade)
    while wait and found.waiting and found.regrade.state == "open":
        output.note(Text(f"  还有 {found.waiting} 份在评", f"  {found.waiting} still to be graded"))
        time.sleep(_LOOK)
        found = client.regrades.show(regrade)
    return found


def _show(found: RegradeShown) -> None:
    for line in found.lines:
        before = "-" if line.before is None else f"{line.before:g}"
        output.say(f"{line.moved:+g}  {line.login} {line.name}  {line.lab}: {before} → {line.after:g}")
        for change in line.changes:
            output.say("      " + _sentence(change))
    if not found.lines:
        output.say(Text("没有成绩变动", "no grade moves"))
    if found.faults:
        output.say(Text("平台没能重评（成绩不变）：", "not graded, through the platform's fault; grades stay:"))
        for fault in found.faults:
            output.say(f"  {fault.login} {fault.submission} {fault.verdict} {fault.fault or ''}")
    counts = f"{found.graded} / {found.waiting}"
    output.say(Text(f"已评 / 在评：{counts}", f"graded / still to be: {counts}"))
    state = found.regrade.state
    if state == "open" and not found.waiting:
        command = f"qianka lab regrade apply {found.regrade.lab} --digest {found.digest}"
        output.say(Text(f"学生还看不到；应用：{command}", f"students see none of it; to apply: {command}"))
    elif state != "open":
        output.say(_state(state))


def _sentence(change: CheckChange) -> str:
    if change.before is None and change.after is None:
        return f"{change.title}: {change.was or '-'} → {change.now or '-'}"
    points = " → ".join("-" if value is None else f"{value:g}" for value in (change.before, change.after))
    return f"{change.title}: {points}" + (f"  {change.now}" if change.now else "")


def _state(state: str) -> str:
    return {"open": t("预演中", "open"), "applied": t("已应用", "applied"), "dropped": t("已放弃", "dropped")}.get(
        state, state
    )
