"""Words for bash and for #SBATCH lines: whatever a word holds, it stays one word on one line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


def word(text: str) -> str:
    """`text` as one word of bash, without a line break even where `text` has one."""
    if not _CONTROL.search(text):
        return shlex.quote(text)
    raw = text.encode("utf-8", "surrogatepass")
    return "$'" + "".join(_escaped(byte) for byte in raw) + "'"


def words(texts: Iterable[str]) -> str:
    """Several words of bash."""
    return " ".join(word(text) for text in texts)


def directive(text: str) -> str:
    """`text` as one value on an #SBATCH line.

    sbatch reads such a line by rules of its own: quotes group, a backslash keeps the next character (also
    within quotes), a bare # ends the line. Raises ValueError for what no such line can hold.
    """
    if _CONTROL.search(text):
        raise ValueError("an #SBATCH line holds no control characters")
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def path_pattern(path: str) -> str:
    """A path for --output, where % begins a pattern and a backslash switches patterns off."""
    return path.replace("%", "%%")


def _escaped(byte: int) -> str:
    letter = chr(byte)
    if letter in "'\\":
        return "\\" + letter
    return letter if 32 <= byte < 127 else f"\\x{byte:02x}"
