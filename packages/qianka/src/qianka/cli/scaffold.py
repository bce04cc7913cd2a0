"""The lab that `qianka lab new` writes: small, complete, and passing `lab check` as it is."""

from __future__ import annotations

from pathlib import Path

TEMPLATE = Path(__file__).with_name("newlab")
_SUFFIX = ".in"


def write(folder: Path) -> list[str]:
    """Copy the template to `folder`; the names of its files."""
    names = []
    for source in sorted(TEMPLATE.rglob(f"*{_SUFFIX}")):
        name = source.relative_to(TEMPLATE).as_posix().removesuffix(_SUFFIX)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        names.append(name)
    return names
