"""site.toml → Site. Every mistake names file, line and key (deploy/slurm/site.toml shows all keys)."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path

from qianka.engines.slurm import flags, script
from qianka.engines.slurm.site import CONTAINERS, LABEL_QOS, Containers, Site
from qianka.errors import ConfigError, Text
from qianka.tomlfile.lines import line_of_error, scan
from qianka.tomlfile.reader import Notes, Problem, Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LONGEST = 256 << 10
_OURS = frozenset(("uid", "gid", "export", "output", "error", "job-name", "array", "wrap", "comment"))
_ROOTS = frozenset(("bb", "bbf", "export-file", "get-user-env", "nodefile", "priority", "reboot", "wait"))
"""what root does not submit (launcher/batch.py)"""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_GRES = re.compile(r"[A-Za-z0-9_]+(:[A-Za-z0-9_.-]+)?")


class SiteError(ConfigError):
    """A site.toml that cannot be used; `problems` holds all mistakes found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        said = [problem.say() for problem in problems]
        super().__init__(
            Text("\n".join(text.zh for text in said), "\n".join(text.en for text in said)),
            Text("对照 deploy/slurm/site.toml 改好", "mend it; deploy/slurm/site.toml shows every key"),
            reason="site",
            problems=[{"file": p.file, "line": p.line, "key": p.key} for p in problems],
        )


def load(file: str | Path | None) -> Site:
    """The site that `file` describes (None or empty: the defaults); read again when the file has changed.

    Raises SiteError with all mistakes when the file is missing, no TOML, or breaks a rule.
    """
    if not file:
        return Site()
    path = Path(file)
    try:
        told = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return _read(path, told.st_mtime_ns, told.st_size, told.st_ino)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int, size: int, _inode: int) -> Site:
    if size > LONGEST:
        raise SiteError([Problem(str(path), 1, "", Text("文件太大（上限 256 KB）", "is too big (256 KB at most)"))])
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SiteError([Problem(str(path), line, "", Text("不是 UTF-8 编码", "is not UTF-8"))]) from error
    except OSError as error:
        raise _unreadable(path, error) from error
    return parse(text, path)


def parse(text: str, file: Path) -> Site:
    """The site that `text` describes; paths in it are relative to the folder of `file`."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_error(str(error), text)
        problem = Problem(str(file), line, "", Text(f"不是合法的 TOML：{error}", f"is not TOML: {error}"))
        raise SiteError([problem]) from error
    notes = Notes(scan(text), str(file))
    site = _site(Table(values, (), notes), file)
    if notes.problems:
        raise SiteError(sorted(notes.problems, key=lambda problem: problem.line))
    return site


def _site(top: Table, file: Path) -> Site:
    account = top.table("account")
    modules = top.table("modules")
    network = top.table("network")
    partition = top.table("partition")
    qos = top.table("qos")
    sbatch = top.table("sbatch")
    own = _maybe(top, "template")
    site = Site(
        account=_word(account, "default"),
        accounts=_map(account.table("cohorts")),
        qos={**LABEL_QOS, **_labels(qos)},
        partition=_word(partition, "default"),
        partition_gpu=_word(partition, "gpu"),
        partitions=_labels(partition),
        gres=_gres(top),
        directives=_directives(sbatch),
        modules_init=_maybe(modules, "init"),
        modules=_lines(modules, "load"),
        setup=_lines(top, "setup"),
        environment=_environment(top.table("environment")),
        interface=_word(network, "interface"),
        ports=_ports(network),
        runtime=_absolute(top, "runtime"),
        folder=_folder(top),
        forbid=_names(sbatch, "forbid"),
        allow=_allow(sbatch),
        containers=_containers(top.table("containers")),
        template=(file.parent / own) if own else None,
    )
    if site.template is not None:
        _check_template(top, site.template)
    for table in (account, modules, network, partition, qos, sbatch, top):
        table.close()
    return site


def _maybe(table: Table, key: str) -> str:
    """A text of one line; empty when absent."""
    found = table.maybe_text(key) or ""
    if not found.isprintable():
        table.bad(key, "应是一行文字", "must be one line of text")
        return ""
    return found


def _word(table: Table, key: str) -> str:
    """One word without spaces; may be empty."""
    value = table.take(key)
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not value.isprintable() or value.startswith("-") or " " in value:
        table.bad(key, f"应是不含空格的一个词，得到 {value!r}", f"must be one word without spaces, got {value!r}")
        return ""
    return value


def _map(table: Table) -> dict[str, str]:
    return {key: _word(table, key) for key in table.values}


def _labels(table: Table) -> dict[str, str]:
    return {label: _word(table, label) for label in LABEL_QOS if label in table}


def _gres(top: Table) -> str:
    found = _maybe(top, "gres") or "gpu"
    if not _GRES.fullmatch(found):
        top.bad("gres", "应写成 gpu 或 gpu:a100", "must be gpu, or gpu:a100")
    return found


def _lines(table: Table, key: str) -> tuple[str, ...]:
    found = table.strings(key, ())
    for line in found:
        if not line.isprintable():
            table.bad(key, f"每项应是一行文字，得到 {line!r}", f"each must be one line of text, got {line!r}")
    return found


def _directives(sbatch: Table) -> tuple[str, ...]:
    found = _lines(sbatch, "directives")
    for option in found:
        name = option.removeprefix("--").partition("=")[0]
        if not option.startswith("--") or not name or " " in name:
            sbatch.bad("directives", f"{option!r} 应写成 --名字=值", f"{option!r} must be written as --name=value")
        elif name in _OURS | _ROOTS:
            sbatch.bad("directives", f"--{name} 由平台决定", f"--{name} is the platform's to say")
        elif name in ("nodelist", "exclude") and "/" in option:
            sbatch.bad("directives", f"--{name} 只能列机器名", f"--{name} lists machines, never a file")
    return found


def _names(sbatch: Table, key: str) -> tuple[str, ...]:
    return tuple(name.removeprefix("--") for name in _lines(sbatch, key))


def _allow(sbatch: Table) -> tuple[str, ...]:
    found = _names(sbatch, "allow")
    for name in found:
        if name in flags.REFUSED:
            sbatch.bad("allow", f"--{name} 不能放开", f"--{name} cannot be allowed")
        elif not re.fullmatch(r"[a-z0-9][a-z0-9_-]+", name):
            sbatch.bad("allow", f"{name!r} 不是选项名", f"{name!r} is no name of an option")
    return found


def _environment(table: Table) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in table.values:
        value = table.take(name)
        if not _VARIABLE.fullmatch(name) or not isinstance(value, str) or "\0" in value:
            table.bad(name, '应写成 变量 = "文字"', 'must be VARIABLE = "text"')
        else:
            found[name] = value
    return found


def _ports(network: Table) -> tuple[int, int]:
    value = network.take("ports")
    if value is None:
        return Site().ports
    ok = isinstance(value, list) and len(value) == 2 and all(type(port) is int for port in value)
    if not ok or not 1024 <= value[0] <= value[1] <= 65535 or value[1] - value[0] < 99:
        network.bad("ports", "应写成 [首, 末]，至少 100 个端口", "must be [first, last], 100 ports at least")
        return Site().ports
    return value[0], value[1]


def _absolute(table: Table, key: str) -> str:
    found = _maybe(table, key)
    if found and not found.startswith("/"):
        table.bad(key, "应是绝对路径", "must be an absolute path")
    return found


def _folder(top: Table) -> str:
    found = _maybe(top, "folder") or Site().folder
    try:
        filled = found.format(home="/home/x", user="x")
    except (KeyError, IndexError, ValueError):
        top.bad("folder", "只能用 {home} 和 {user}", "may use {home} and {user} only")
        return Site().folder
    if not filled.startswith("/") or "\\" in filled:
        top.bad("folder", "应是绝对路径，不含反斜杠", "must be an absolute path without a backslash")
    elif "x" not in filled.split("/"):
        top.bad(
            "folder", "每人要有自己的文件夹：用 {home} 或 {user}", "must be each person's own: use {home} or {user}"
        )
    return found


def _containers(table: Table) -> Containers:
    kinds = table.strings("kinds", ())
    for kind in kinds:
        if kind not in CONTAINERS:
            listed = ", ".join(CONTAINERS)
            table.bad("kinds", f"没有 {kind}；可用：{listed}", f"there is no {kind}; there are: {listed}")
    images = _lines(table, "images")
    if kinds and not images:
        table.bad("images", "要列出允许的镜像，如 /nfs/images/*.sif", "must list what is allowed: /nfs/images/*.sif")
    default = _default(table, kinds)
    mounts = _lines(table, "mounts")
    for folder in mounts:
        if not folder.startswith("/") or ":" in folder or "," in folder:
            table.bad("mounts", f"{folder} 应是绝对路径，不含 : 和 ,", f"{folder} must be absolute, without : and ,")
    commands, options = _by_kind(table.table("commands")), _by_kind(table.table("options"))
    table.close()
    return Containers(kinds=kinds, images=images, default=default, mounts=mounts, commands=commands, options=options)


def _by_kind(table: Table) -> dict[str, tuple[str, ...]]:
    found = {kind: _lines(table, kind) for kind in CONTAINERS if kind in table}
    table.close()
    return found


def _default(table: Table, kinds: tuple[str, ...]) -> tuple[str, str] | None:
    text = _maybe(table, "default")
    if not text:
        return None
    kind, colon, image = text.partition(":")
    if not colon or kind not in kinds or not image:
        table.bad("default", "应写成 种类:镜像，种类在 kinds 里", "must be KIND:IMAGE, with a kind of `kinds`")
        return None
    return kind, image


def _check_template(top: Table, file: Path) -> None:
    """A wrong template is told of when the site is read, not at somebody's submit."""
    try:
        script.check_template(file)
    except ConfigError as error:
        top.notes.problems.append(
            Problem(top.notes.file, top.notes.lines.get(("template",), 1), "template", error.message)
        )


def _unreadable(path: Path, error: OSError) -> SiteError:
    return SiteError(
        [Problem(str(path), 1, "", Text(f"读不了：{error.strerror}", f"cannot be read: {error.strerror}"))]
    )
