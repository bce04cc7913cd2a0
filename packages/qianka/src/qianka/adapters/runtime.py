"""The student runtime: the one environment that student code runs in, apart from the service's own."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from qianka.adapters import installer, interpreter
from qianka.errors import ConfigError, PlatformFault, Text, Unavailable

REQUIREMENTS = Path(__file__).with_name("runtime-requirements.txt")
STAMP = "runtime.json"
FONTS = Path("share") / "matplotlib"
"""where a runtime keeps matplotlib's list of fonts; a notebook's kernel copies it"""
PARTIAL = ".partial"
"""lies in a runtime that is being made; found later, the making was cut short"""


@dataclass(frozen=True)
class Runtime:
    """A finished student runtime."""

    path: str
    base: str
    """the interpreter it was made with"""
    version: str
    torch: str
    cuda: str | None
    """the CUDA version torch was built for; None: the CPU build"""
    source: installer.Source
    digest: str
    """of the pinned packages and the interpreter; the kit is counted apart"""
    kit: str

    @property
    def python(self) -> Path:
        """The interpreter that runs student code."""
        return Path(self.path) / "bin" / "python"


def load(target: Path) -> Runtime | None:
    """The runtime at `target`; None when there is none or its making was cut short."""
    if (target / PARTIAL).exists():
        return None
    try:
        return Runtime(**json.loads((target / STAMP).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def build(
    target: Path, *, python: str | None = None, torch_index: str, say: Callable[[str], None], cards: bool = False
) -> Runtime:
    """Make the runtime at `target`, or only what has changed; without changes this takes no time.

    `python`: the interpreter to use (None: chosen), `torch_index`: where CPU builds of torch are,
    `say`: is told each long step. An environment cannot be moved, so it is made in place; two
    builders of one target wait for each other. Raises ConfigError, Unavailable (no network,
    no package) or PlatformFault (torch does not import).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target):
        chosen = interpreter.choose(python, other_uids=os.geteuid() == 0, say=say)
        digest, kit = _digest(chosen, cards), _kit_digest()
        present = load(target)
        if present is None or present.digest != digest:
            present = _make(target, chosen, digest, torch_index, say, cards)
        if present.kit != kit:
            present = _put_kit(target, present, kit)
        return present


def _make(
    target: Path, chosen: interpreter.Interpreter, digest: str, index: str, say: Callable[[str], None], cards: bool
) -> Runtime:
    say(f"建立学生环境（1-2 分钟）：{target} / making the student runtime (1-2 minutes): {target}")
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(mode=0o755)
    (target / PARTIAL).touch()
    _run([chosen.path, "-I", "-m", "venv", str(target)], target)
    tool = installer.Installer(target / "bin" / "python", target / "build.log", installer.find_uv())
    if tool.uv is not None and not tool.install("--dry-run", "pip"):
        tool = installer.Installer(tool.python, tool.log)
    source = installer.install_torch(tool, _requirement("torch"), index=index, cards=cards, say=say)
    say("安装 numpy、scikit-learn、IPython、matplotlib / installing numpy, scikit-learn, IPython, matplotlib")
    if not tool.install("--requirement", str(REQUIREMENTS)):
        raise Unavailable(
            Text(f"安装学生环境失败：{installer.last_words(tool.log)}", installer.last_words(tool.log)),
            Text(f"检查网络后重试；详细记录：{tool.log}", f"check the network and retry; the full record: {tool.log}"),
        )
    version, torch, cuda = _inspect(tool.python)
    _list_fonts(target)
    if cuda is not None and source == "cpu-index":
        raise PlatformFault(
            Text(f"{index} 给出的不是 CPU 版 torch（CUDA {cuda}）", f"{index} served a torch for CUDA {cuda}"),
            Text("改设置 mirror.torch_cpu", "change the setting mirror.torch_cpu"),
        )
    made = Runtime(str(target), chosen.path, version, torch, cuda, source, digest, kit="")
    _stamp(target, made)
    (target / PARTIAL).unlink()
    say(
        f"学生环境就绪：Python {version}，torch {torch} / the student runtime is ready: Python {version}, torch {torch}"
    )
    return made


def _inspect(python: Path) -> tuple[str, str, str | None]:
    """Versions of Python and torch, and torch's CUDA; proves that everything pinned imports."""
    ask = (
        "import json, platform, black, flake8, IPython, matplotlib, numpy, sklearn, torch;"
        "print(json.dumps([platform.python_version(), torch.__version__, torch.version.cuda]))"
    )
    asked = subprocess.run([str(python), "-I", "-c", ask], capture_output=True, text=True, timeout=300)
    if asked.returncode != 0:
        words = (asked.stderr.strip().splitlines() or ["?"])[-1]
        raise PlatformFault(
            Text(f"学生环境里的 torch 不能导入：{words}", f"torch does not import in the student runtime: {words}"),
            Text(f"删除 {python.parent.parent} 后重试", f"remove {python.parent.parent} and try again"),
        )
    version, torch, cuda = json.loads(asked.stdout)
    return version, torch, cuda


def _list_fonts(target: Path) -> None:
    """Have matplotlib look for fonts once: in a fresh sandbox each notebook would spend seconds on it."""
    place = target / FONTS
    place.mkdir(parents=True, exist_ok=True)
    code = f"import os; os.environ['MPLCONFIGDIR'] = {str(place)!r}; import matplotlib.font_manager"
    _run([str(target / "bin" / "python"), "-I", "-c", code], target)
    for path in [place, *place.iterdir()]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _put_kit(target: Path, present: Runtime, kit: str) -> Runtime:
    """Copy the kit's source: an editable install would point out of the sandbox."""
    place = next((target / "lib").glob("python3*/site-packages"))
    shutil.rmtree(place / "qianka_kit", ignore_errors=True)
    shutil.copytree(_kit_source(), place / "qianka_kit", ignore=shutil.ignore_patterns("__pycache__"))
    _run([str(present.python), "-I", "-m", "compileall", "-q", str(place / "qianka_kit")], target)
    for path in [place / "qianka_kit", *(place / "qianka_kit").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)  # the uids of runs read it
    changed = Runtime(**{**asdict(present), "kit": kit})
    _stamp(target, changed)
    return changed


def _stamp(target: Path, made: Runtime) -> None:
    temporary = target / f"{STAMP}.new"
    temporary.write_text(json.dumps(asdict(made), ensure_ascii=False, indent=1), "utf-8")
    temporary.chmod(0o644)
    temporary.replace(target / STAMP)


def _requirement(name: str) -> str:
    """The pin of one package, without its marker."""
    lines = REQUIREMENTS.read_text("utf-8").splitlines()
    return next(line.partition(";")[0].strip() for line in lines if line.startswith(f"{name}=="))


def _digest(chosen: interpreter.Interpreter, cards: bool) -> str:
    parts = [REQUIREMENTS.read_text("utf-8"), chosen.path, repr(chosen.version), repr(cards)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _kit_source() -> Path:
    # Found, never imported: platform and kit share files, not code.
    spec = importlib.util.find_spec("qianka_kit")
    if spec is None or spec.origin is None:
        raise ConfigError(
            Text("没有安装 qianka-kit", "qianka-kit is not installed"),
            Text("pip install qianka-kit", "pip install qianka-kit"),
        )
    return Path(spec.origin).parent


def _kit_digest() -> str:
    digest = hashlib.sha256()
    root = _kit_source()
    for path in sorted(p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _run(command: list[str], target: Path) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, umask=0o022)
    if ended.returncode != 0:
        words = (ended.stderr.strip() or ended.stdout.strip())[-300:]
        raise PlatformFault(
            Text(f"建立学生环境 {target} 失败：{words}", f"making the student runtime {target} failed: {words}")
        )


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold the lock of `target` for the length of the block."""
    with target.with_name(f".{target.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
