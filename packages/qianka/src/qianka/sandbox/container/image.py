"""An image made here, without any registry: empty folders, and links as this machine has them.

/usr is mounted from the machine when a run starts, so the same student runtime is used as with bubblewrap.
"""

from __future__ import annotations

import os

from qianka.sandbox.bubblewrap import ETC
from qianka.sandbox.container.engine import Engine, EngineError

FOLDERS = ("dev", "etc", "out", "proc", "run", "sys", "tmp", "usr", "work", "data", "cache", "runtime", "var", "root")
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "etc")


def links() -> list[tuple[str, str]]:
    """(name, target) of the links at the root, such as bin → usr/bin."""
    return [(name, os.readlink(f"/{name}")) for name in SYSTEM if os.path.islink(f"/{name}")]


def folders() -> list[str]:
    """System folders of a machine without those links: they are mounted as well."""
    return [f"/{name}" for name in SYSTEM if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]


def skeleton() -> bytes:
    """The image as a tar archive; the same machine gives the same bytes."""
    import io
    import tarfile

    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in (*FOLDERS, *(folder[1:] for folder in folders())):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name in ("tmp", "out") else 0o755
            tar.addfile(entry)
        for name, target in links():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
        for name in ETC:
            with open(f"{_ETC}/{name}", "rb") as file:
                text = file.read()
            entry = tarfile.TarInfo(f"etc/{name}")
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text))
    return held.getvalue()


def name() -> str:
    """The image's name: another content is another image."""
    import hashlib

    return f"qianka-sandbox:{hashlib.sha256(skeleton()).hexdigest()[:16]}"


def ensure(engine: Engine, wanted: str | None = None) -> str:
    """Make the image where it is missing; an image `wanted` by the operator must be there. Raises EngineError."""
    found = wanted or name()
    code, _, why = engine.ask("image", "inspect", "--format", "{{.Id}}", found)
    if code == 0:
        return found
    if wanted:
        raise EngineError(f"{engine.name}: no image {wanted} here, and none is pulled: {why.strip()[-200:]}")
    code, _, why = engine.ask("import", "-", found, given=skeleton(), patience=120)
    if code != 0:
        raise EngineError(f"{engine.name} import: {why.strip()[-300:]}")
    return found
