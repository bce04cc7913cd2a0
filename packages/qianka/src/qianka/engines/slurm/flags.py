"""What `--sbatch` may pass through: known options of sbatch by their exact long names, less those that
say who runs a job, where its output goes, how large it is, or that make it something else than one job.

sbatch takes any unambiguous beginning of an option's name; so only whole names are taken here, and what
is not in the table is refused: a beginning of a forbidden name cannot slip through.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from qianka.engines.slurm.site import Site
from qianka.errors import BadInput, Refused, Text

LONGEST = 1000
MOST = 50

# name: short form, whether it takes a value ("=": must, "?": may, "": none)
PASSED: dict[str, tuple[str, str]] = {
    "acctg-freq": ("", "="),
    "begin": ("b", "="),
    "cluster-constraint": ("", "="),
    "constraint": ("C", "="),
    "contiguous": ("", ""),
    "core-spec": ("S", "="),
    "cores-per-socket": ("", "="),
    "cpu-freq": ("", "="),
    "deadline": ("", "="),
    "delay-boot": ("", "="),
    "dependency": ("d", "="),
    "distribution": ("m", "="),
    "exclude": ("x", "="),
    "extra-node-info": ("B", "="),
    "gpu-bind": ("", "="),
    "gpu-freq": ("", "="),
    "gres-flags": ("", "="),
    "hint": ("", "="),
    "kill-on-invalid-dep": ("", "="),
    "licenses": ("L", "="),
    "mail-type": ("", "="),
    "mail-user": ("", "="),
    "mcs-label": ("", "="),
    "mem-bind": ("", "="),
    "mincpus": ("", "="),
    "network": ("", "="),
    "no-kill": ("k", "?"),
    "nodelist": ("w", "="),
    "overcommit": ("O", ""),
    "oversubscribe": ("s", ""),
    "partition": ("p", "="),
    "prefer": ("", "="),
    "profile": ("", "="),
    "reservation": ("", "="),
    "resv-ports": ("", "?"),
    "segment": ("", "="),
    "signal": ("", "="),
    "sockets-per-node": ("", "="),
    "spread-job": ("", ""),
    "switches": ("", "="),
    "thread-spec": ("", "="),
    "threads-per-core": ("", "="),
    "time-min": ("", "="),
    "tmp": ("", "="),
    "use-min-nodes": ("", ""),
    "wckey": ("", "="),
}

_WHO = Text("谁运行任务由平台决定", "the platform says who runs a job")
_OUTPUT = Text("输出由平台收取：qianka logs", "the platform keeps the output: qianka logs")
_NAME = Text("用 --name 起名", "--name gives it a name")
_SIZE = Text("用 --nodes、--gpu、--cpus、--mem", "use --nodes, --gpu, --cpus and --mem")
_ARRAY = Text("用 qianka submit --array 0-9%3", "use qianka submit --array 0-9%3")
_QUEUE = Text("优先级用 --label", "--label says how urgent it is")
_OURS = Text("这由平台控制", "that is the platform's to say")

REFUSED: dict[str, tuple[str, Text]] = {
    "account": ("A", Text("账户由课程班决定：用 --cohort", "the cohort says which account: use --cohort")),
    "array": ("a", _ARRAY),
    "batch": ("", _OURS),
    "bb": ("", _OURS),
    "bbf": ("", _OURS),
    "chdir": ("D", _OUTPUT),
    "clusters": ("M", _OURS),
    "comment": ("", _NAME),
    "container": ("", Text("用 --image", "use --image")),
    "container-id": ("", _OURS),
    "cpus-per-gpu": ("", _SIZE),
    "cpus-per-task": ("c", _SIZE),
    "error": ("e", _OUTPUT),
    "exclusive": ("", Text("用 qianka submit --exclusive", "use qianka submit --exclusive")),
    "export": ("", _OURS),
    "export-file": ("", _OURS),
    "extra": ("", _OURS),
    "get-user-env": ("", _OURS),
    "gid": ("", _WHO),
    "gpus": ("G", _SIZE),
    "gpus-per-node": ("", _SIZE),
    "gpus-per-socket": ("", _SIZE),
    "gpus-per-task": ("", _SIZE),
    "gres": ("", _SIZE),
    "help": ("h", _OURS),
    "hold": ("H", Text("提交后没有放行的命令", "there is no command that would release it")),
    "ignore-pbs": ("", _OURS),
    "input": ("i", _OUTPUT),
    "job-name": ("J", _NAME),
    "mem": ("", _SIZE),
    "mem-per-cpu": ("", _SIZE),
    "mem-per-gpu": ("", _SIZE),
    "nice": ("", _QUEUE),
    "no-requeue": ("", _OURS),
    "nodefile": ("F", _OURS),
    "nodes": ("N", _SIZE),
    "ntasks": ("n", _SIZE),
    "ntasks-per-core": ("", _SIZE),
    "ntasks-per-gpu": ("", _SIZE),
    "ntasks-per-node": ("", _SIZE),
    "ntasks-per-socket": ("", _SIZE),
    "open-mode": ("", _OUTPUT),
    "output": ("o", _OUTPUT),
    "parsable": ("", _OUTPUT),
    "power": ("", _OURS),
    "priority": ("", _QUEUE),
    "propagate": ("", _OURS),
    "qos": ("q", _QUEUE),
    "quiet": ("Q", _OUTPUT),
    "reboot": ("", _OURS),
    "requeue": ("", _OURS),
    "test-only": ("", Text("用 qianka submit --dry-run", "use qianka submit --dry-run")),
    "time": ("t", Text("用 --time", "use --time")),
    "uid": ("", _WHO),
    "usage": ("", _OURS),
    "verbose": ("v", _OUTPUT),
    "version": ("V", _OURS),
    "wait": ("W", Text("用 qianka submit -f", "use qianka submit -f")),
    "wait-all-nodes": ("", _OURS),
    "wrap": ("", Text("命令写在 qianka submit 后面", "the command comes after qianka submit")),
}

_SHORT = {short: name for name, (short, _) in (*PASSED.items(), *REFUSED.items()) if short}


def parsed(given: Iterable[str], site: Site) -> tuple[str, ...]:
    """The options in `given` (each one or several, as on a command line), each as `--name` or `--name=value`.

    Raises BadInput (not readable) and Refused (an option that is not to be passed), naming the option.
    """
    words: list[str] = []
    for text in given:
        words += _split(text)
    found: list[str] = []
    while words:
        name, value, taken = _one(words, site)
        found.append(f"--{name}" if value is None else f"--{name}={value}")
        words = words[taken:]
    if len(found) > MOST:
        raise _bad(f"多于 {MOST} 个选项", f"more than {MOST} options")
    return tuple(found)


def checked(options: Iterable[str], site: Site) -> tuple[str, ...]:
    """Options of a job.json as they are: each one `--name` or `--name=value`, as `parsed` returns them.

    Looked at again where they are used: what site.toml forbids since then is refused there.
    """
    found = tuple(str(option) for option in options)
    for option in found:
        if len(option) > LONGEST or not option.startswith("--") or not option.isprintable():
            raise _bad("应是一行 --名字=值", "must be --name=value on one line")
        name, value, _ = _one([option], site)
        if option != (f"--{name}" if value is None else f"--{name}={value}"):
            raise _bad(f"{option} 看不懂", f"{option} is not understood")
    return found


def _split(text: str) -> list[str]:
    if len(text) > LONGEST or any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise _bad(f"应是一行、不超过 {LONGEST} 个字符", f"must be one line of at most {LONGEST} characters")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise _bad(f"{text}：引号不成对", f"{text}: a quote is not closed") from error


def _one(words: list[str], site: Site) -> tuple[str, str | None, int]:
    """(long name, value, words used) of the first option."""
    word = words[0]
    if word.startswith("--") and len(word) > 2:
        name, equals, value = word[2:].partition("=")
        given: str | None = value if equals else None
    elif word.startswith("-") and len(word) > 1:
        name = _SHORT.get(word[1], word[1])
        given = word[2:].removeprefix("=") or None
    else:
        raise _bad(f"{word} 不是选项（要以 - 开头）", f"{word} is no option (they begin with -)")
    _allowed(name, site)
    takes = PASSED.get(name, ("", "?"))[1]
    if given is None and takes == "=":
        if len(words) < 2:
            raise _bad(f"--{name} 后面要有值", f"--{name} needs a value")
        _check_value(name, words[1], site)
        return name, words[1], 2
    if given is not None and not takes:
        raise _bad(f"--{name} 不带值", f"--{name} takes no value")
    _check_value(name, given, site)
    return name, given, 1


def _check_value(name: str, value: str | None, site: Site) -> None:
    """Raises BadInput for a file of nodes, Refused for the partition of the urgent."""
    if name in ("nodelist", "exclude") and "/" in (value or ""):
        # sbatch would read that file, with the rights of whoever calls it.
        raise _bad(f"--{name} 只能列机器名，不能是文件", f"--{name} lists machines, never a file")
    urgent = site.partitions.get("urgent")
    asked = (value or "").split(",") if name == "partition" else []
    if urgent and urgent in asked and urgent not in [site.partition_of(label, 1) for label in ("normal", "idle")]:
        raise _refused(name, Text("这个分区用 --label urgent", "that partition is asked for by --label urgent"))


def _allowed(name: str, site: Site) -> None:
    if name in REFUSED:
        raise _refused(name, REFUSED[name][1])
    if name in site.forbid:
        text = Text("本站点的 site.toml 不允许；请联系管理员", "this site's site.toml forbids it: ask its operator")
        raise _refused(name, text)
    if name not in PASSED and name not in site.allow:
        raise _refused(
            name,
            Text(
                "选项名要写全；站点插件的选项由管理员加进 site.toml 的 sbatch.allow",
                "write the whole name; options of a site's plugins go into sbatch.allow of site.toml",
            ),
        )


def _refused(name: str, hint: Text) -> Refused:
    dashes = "--" if len(name) > 1 else "-"
    return Refused(
        Text(f"--sbatch 不能带 {dashes}{name}", f"--sbatch may not pass {dashes}{name}"),
        hint,
        reason="sbatch_option",
        option=name,
    )


def _bad(zh: str, en: str) -> BadInput:
    return BadInput(
        Text(f"--sbatch：{zh}", f"--sbatch: {en}"),
        Text("如 --sbatch '--constraint=a100'", "such as --sbatch '--constraint=a100'"),
        reason="sbatch",
    )
