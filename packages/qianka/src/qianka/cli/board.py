"""`qianka board`: look at one, enter predictions, choose; make one from a folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from qianka.cli import common, output
from qianka.cli.common import CohortOption, Json
from qianka.cli.lab import due_instant, instant, shown_time
from qianka.cli.output import t
from qianka.client import archive
from qianka.client.credentials import write_private
from qianka.errors import BadInput, NotFound, Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.client.boards import Boards
    from qianka.schemas.boards import Board, Entry
    from qianka.schemas.predictions import Allowance, EnteredFile, PredictionBoard, PredictionEntry, PredictionRanking


class _ShowsByDefault(TyperGroup):
    """`qianka board lab1` is `qianka board show lab1`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = next((word for word in args if not word.startswith("-")), None)
        if first is not None and first not in self.commands:
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = common.new_app("排行榜", "boards: look, enter predictions, make one", group=True)
app.info.cls = _ShowsByDefault

BoardName = Annotated[str, typer.Argument(help=t("排行榜", "the board"))]
Receipts = Annotated[Path, typer.Option("--receipts", help=t("回执存放目录", "folder for receipts"))]
_PHASES = {
    "unopened": Text("未开放", "not open yet"),
    "open": Text("公开排名", "public ranking"),
    "closed": Text("已截止，私有排名未公布", "past the deadline, private ranking not shown yet"),
    "final": Text("最终（私有）排名", "final (private) ranking"),
}


@app.command(
    help=t(
        "看排行榜（可省略 show）；名字是化名，* 是自己", "a board (show may be left out); names are aliases, * is you"
    )
)
def show(
    name: Annotated[str, typer.Argument(help=t("实验或排行榜", "the lab or board"))],
    cohort: CohortOption = None,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help=t("显示前几名", "how many lines"))] = 20,
    efficiency: Annotated[
        bool, typer.Option("--efficiency", help=t("每 GPU 分钟的成绩", "score per GPU-minute"))
    ] = False,
    private: Annotated[
        bool,
        typer.Option("--private", help=t("公布前看私有排名（教师）", "the private ranking before its reveal (staff)")),
    ] = False,
    json: Json = False,
) -> None:
    with common.client() as client:
        where = common.one_cohort(client, cohort)
        boards = _boards(client)
        if efficiency:
            return _show_lab(boards.efficiency(where, name, top))
        try:
            if not private:
                return _show_lab(client.board(where, name, top))
        except NotFound as missing:
            if missing.reason not in ("no_lab", "no_board"):
                raise
        return _show_ranking(boards.ranking(where, name, top, private=private or None))


@app.command("list", help=t("课程班里的预测排行榜", "the boards of predictions of a cohort"))
def list_(cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        found = _boards(client).of_cohort(common.one_cohort(client, cohort))
    if not output.result(found):
        headings = [t("排行榜", "board"), t("名称", "title"), t("指标", "metric"), t("状态", "phase"), t("截止", "due")]
        rows = [[one.slug, _title(one), one.metric, _phase(one), shown_time(one.due_at, one.zone)] for one in found]
        output.table(headings, rows)


@app.command(help=t("提交预测 CSV，保存回执", "enter a CSV of predictions, keep the receipt"))
def enter(
    board: BoardName,
    file: Annotated[Path, typer.Argument(help=t("CSV 文件", "CSV file"))],
    cohort: CohortOption = None,
    receipts: Receipts = Path("."),
    json: Json = False,
) -> None:
    from qianka.client.api import new_key

    if not file.is_file():
        raise NotFound(Text(f"没有文件 {file}", f"there is no file {file}"))
    with common.client() as client:
        entered = _boards(client).enter(common.one_cohort(client, cohort), board, file, new_key())
    kept = _keep(entered, receipts)
    if not output.result({**entered.model_dump(mode="json"), "receipt_file": kept}):
        _tell(entered, kept)
    if entered.entry.state != "scored":
        raise typer.Exit(7 if entered.entry.state == "invalid" else 10)


@app.command(help=t("自己（和小组）的提交", "your entries and your group's"))
def entries(
    board: BoardName,
    cohort: CohortOption = None,
    everybody: Annotated[bool, typer.Option("--all", help=t("全班的（教师）", "of everybody (staff)"))] = False,
    json: Json = False,
) -> None:
    with common.client() as client:
        found = list(_boards(client).entries(common.one_cohort(client, cohort), board, everybody=everybody))
    if output.result(found):
        return
    headings = [
        t("编号", "id"),
        t("提交人", "by"),
        t("文件", "file"),
        t("状态", "state"),
        t("公开", "public"),
        t("私有", "private"),
        t("选定", "chosen"),
    ]
    output.table(headings, [_entry_row(one) for one in found])


@app.command(
    help=t(
        "选定用于最终排名的提交；不写则按公开分数最好的", "choose what counts in the end; none: the best public ones"
    )
)
def select(
    board: BoardName,
    entry: Annotated[list[str] | None, typer.Argument(help=t("提交编号", "ids of entries"))] = None,
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        chosen = _boards(client).select(common.one_cohort(client, cohort), board, entry or [])
    if not output.result({"entries": chosen}):
        output.say(Text(f"已选定 {len(chosen)} 份", f"{len(chosen)} chosen"))


@app.command(help=t("撤回一份提交，如同没有交过", "take an entry off the board as if it had never been"))
def withdraw(
    entry: Annotated[str, typer.Argument(help=t("提交编号", "id of the entry"))],
    refund: Annotated[bool, typer.Option("--refund", help=t("退还次数（教师）", "give the try back (staff)"))] = False,
    json: Json = False,
) -> None:
    with common.client() as client:
        found = _boards(client).withdraw(entry, refund=refund)
    if not output.result(found):
        output.say(Text(f"已撤回：{found.id}", f"withdrawn: {found.id}"))


@app.command(help=t("取样例文件", "fetch the sample file"))
def sample(
    board: BoardName,
    file: Annotated[Path, typer.Argument(help=t("存到哪里", "where to"))] = Path("sample_submission.csv"),
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        file.write_bytes(_boards(client).sample(common.one_cohort(client, cohort), board))
    if not output.result({"file": file}):
        output.say(Text(f"已存到 {file}", f"written to {file}"))


@app.command(
    help=t("用文件夹建排行榜（教师）：board.toml、answers.csv", "make a board of a folder: board.toml, answers.csv")
)
def create(
    folder: Annotated[Path, typer.Argument(help=t("文件夹", "the folder"))],
    name: Annotated[
        str | None, typer.Option("--name", help=t("代号；默认文件夹名", "name; the folder's by default"))
    ] = None,
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    _require(folder, "board.toml", "answers.csv")
    _made(folder, name, cohort)


@app.command(
    "import",
    help=t("导入 Kaggle 式文件夹（教师）", "import a folder as Kaggle has it: sample_submission.csv, solution.csv"),
)
def import_(
    folder: Annotated[Path, typer.Argument(help=t("文件夹", "the folder"))],
    metric: Annotated[str, typer.Option("--metric", help=t("指标，如 accuracy", "the metric, such as accuracy"))],
    name: Annotated[
        str | None, typer.Option("--name", help=t("代号；默认文件夹名", "name; the folder's by default"))
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help=t("名称", "title"))] = None,
    a_day: Annotated[int, typer.Option("--a-day", min=1, help=t("每天次数", "entries a day"))] = 5,
    ladder: Annotated[
        bool, typer.Option("--ladder/--no-ladder", help=t("用 Ladder 保护公开分数", "protect the public score"))
    ] = False,
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    _require(folder, "sample_submission.csv", "solution.csv")
    _made(folder, name, cohort, metric=metric, title=title, a_day=a_day, ladder=ladder)


@app.command(help=t("改日期和次数（教师）", "change dates and limits (teachers)"))
def change(
    board: BoardName,
    due: Annotated[str | None, typer.Option("--due", help=t("截止", "deadline"))] = None,
    opens: Annotated[str | None, typer.Option("--opens", help=t("开放", "opening"))] = None,
    reveal: Annotated[
        str | None, typer.Option("--reveal", help=t("公布私有排名", "when the private ranking is shown"))
    ] = None,
    a_day: Annotated[int | None, typer.Option("--a-day", min=1, help=t("每天次数", "entries a day"))] = None,
    a_week: Annotated[int | None, typer.Option("--a-week", min=1, help=t("每周次数", "entries a week"))] = None,
    total: Annotated[int | None, typer.Option("--total", min=1, help=t("总次数", "entries in all"))] = None,
    cohort: CohortOption = None,
    json: Json = False,
) -> None:
    with common.client() as client:
        where = common.one_cohort(client, cohort)
        zone = next((one.zone for one in client.cohorts() if one.slug == where), "UTC")
        moments = {
            "due_at": due_instant(due, zone),
            "opens_at": instant(opens, zone),
            "reveal_at": due_instant(reveal, zone),
        }
        changes: dict[str, Any] = {name: one.isoformat() for name, one in moments.items() if one is not None}
        changes |= {k: v for k, v in {"a_day": a_day, "a_week": a_week, "total": total}.items() if v is not None}
        if not changes:
            raise BadInput(Text("没有要改的", "nothing to change"), Text("--due、--a-day 等", "such as --due, --a-day"))
        found = _boards(client).change(where, board, **changes)
    if not output.result(found):
        _tell_dates(found)


@app.command(help=t("全部重新计分（教师）", "score every entry again (teachers)"))
def rebuild(board: BoardName, cohort: CohortOption = None, json: Json = False) -> None:
    with common.client() as client:
        done = _boards(client).rebuild(common.one_cohort(client, cohort), board)
    if not output.result(done):
        output.say(
            Text(
                f"{done.owners} 人（组），{done.changed} 份分数变了",
                f"{done.owners} owners, {done.changed} scores changed",
            )
        )


def _boards(client: Client) -> Boards:
    from qianka.client.boards import Boards

    return Boards(client.transport)


def _made(folder: Path, name: str | None, cohort: str | None, **kaggle: Any) -> None:
    with common.client() as client, tempfile.TemporaryDirectory(prefix="qianka-") as scratch:
        packed = Path(scratch) / "board.zip"
        archive.pack(folder, packed)
        where = common.one_cohort(client, cohort)
        made = _boards(client).create(where, packed, name or folder.absolute().name, **kaggle)
    if not output.result(made):
        output.say(
            Text(
                f"已建：{made.title}（{made.cohort}/{made.slug}）", f"made: {_title(made)} ({made.cohort}/{made.slug})"
            )
        )
        _tell_dates(made)


def _require(folder: Path, *names: str) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise NotFound(
                Text(f"{folder} 里没有 {name}", f"there is no {name} in {folder}"),
                Text("格式见 docs/howto/boards.md", "the form is told in docs/howto/boards.md"),
            )


def _keep(entered: EnteredFile, folder: Path) -> Path | None:
    if entered.receipt is None:
        return None
    kept = folder / f"{entered.entry.board}-{entered.entry.id}.receipt.json"
    write_private(kept, entered.receipt)
    return kept


def _tell(entered: EnteredFile, kept: Path | None) -> None:
    entry = entered.entry
    if entry.state == "scored":
        output.say(Text(f"已提交：{entry.id}", f"entered: {entry.id}"))
        if entry.public is not None:
            output.say(Text(f"  公开分数 {entry.public:g}", f"  public score {entry.public:g}"))
        output.say(Text(f"  榜上显示 {entry.shown}", f"  on the board {entry.shown}"))
        output.say(Text(f"  回执：{kept}", f"  receipt: {kept}"))
    else:
        output.note(Text("没有计分，不占次数：", "not scored, no try used:"))
        for problem in entry.problems:
            output.note(f"  · {problem.message} ({problem.count})")
            for first in problem.first:
                output.note("      " + "  ".join(f"{k} {v}" for k, v in first.items() if v is not None))
        if not entry.problems and entry.message:
            output.note(f"  · {entry.message}")
    _tell_left(entered.allowance)


def _tell_left(allowance: Allowance | None) -> None:
    if allowance is not None:
        output.say("  " + allowance.sentence)


def _tell_dates(board: PredictionBoard) -> None:
    output.say(
        Text(f"  截止：{shown_time(board.due_at, board.zone)}", f"  due: {shown_time(board.due_at, board.zone)}")
    )


def _show_lab(found: Board) -> None:
    if output.result(found):
        return
    unit = {"gpu_minute": t(" / GPU 分钟", " per GPU-minute"), "cpu_minute": t(" / CPU 分钟", " per CPU-minute")}
    output.say(f"{found.title}  {found.metric}{unit.get(found.unit or '', '')}")
    _lines(found.entries)


def _show_ranking(found: PredictionRanking) -> None:
    if output.result(found):
        return
    output.say(f"{_title(found)}  {found.metric}  {_phase(found)}")
    _lines(found.entries)
    _tell_left(found.allowance)


def _lines(entries: list[Entry]) -> None:
    if not entries:
        output.say(t("还没有成绩", "nothing yet"))
        return
    headings = [t("名次", "rank"), t("名字", "name"), t("成绩", "score"), t("得分", "points")]
    if any(one.entries is not None for one in entries):
        headings[3] = t("次数", "entries")
    rows = [
        [
            one.rank,
            ("* " if one.mine else "  ") + one.name,
            one.score,
            one.points if one.entries is None else one.entries,
        ]
        for one in entries
    ]
    output.table(headings, rows)


def _entry_row(one: PredictionEntry) -> list[Any]:
    public = one.public if one.public is not None else one.shown
    return [one.id, one.login, one.filename, one.state, public, one.private, "*" if one.selected else ""]


def _title(board: PredictionBoard) -> str:
    return board.title if output.language() == "zh" else board.title_en or board.title


def _phase(board: PredictionBoard) -> str:
    return _PHASES.get(board.phase, Text(board.phase, board.phase)).say(output.language())
