"""Bytes of a roster → text, with the encoding guessed and shown, and every bad byte kept findable."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from qianka.errors import BadInput, Text

BAD = "\ufffd"
"""stands for a byte that could not be decoded"""

CHOICES = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "gb18030": "gb18030",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "latin-1",
    "cp1252": "cp1252",
}
_SHOWN = {"utf-8": "UTF-8", "gb18030": "GB18030", "big5hkscs": "Big5", "latin-1": "Latin-1", "cp1252": "Windows-1252"}


class Decoded(NamedTuple):
    """The text, and the encoding as shown to people."""

    text: str
    encoding: str


def decode(data: bytes, encoding: str | None = None) -> Decoded:
    """Decode a roster, as `encoding` if given, else by BOM, else as what fits best.

    Raises BadInput for an empty file, or an encoding that is none of CHOICES.
    """
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\x00 \r\n\t"):
        raise BadInput(Text("名单是空的", "the roster is empty"), reason="empty")
    if encoding is not None:
        return _as_told(data, encoding)
    if data.startswith(codecs.BOM_UTF8):
        return Decoded(_lenient(data[3:], "utf-8"), "UTF-8 (BOM)")
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return Decoded(data.decode("utf-32", "replace"), "UTF-32")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Decoded(data.decode("utf-16", "replace"), "UTF-16")
    wide = _wide(data)
    if wide is not None:
        return Decoded(data.decode(wide, "replace"), wide.upper())
    return _guess(data)


def _as_told(data: bytes, encoding: str) -> Decoded:
    name = CHOICES.get(encoding.strip().lower().replace("_", "-"))
    if name is None:
        raise BadInput(
            Text(f"不认识编码 {encoding[:40]}", f"the encoding {encoding[:40]} is not known"),
            Text(f"可选：{'、'.join(CHOICES)}", f"choose one of {', '.join(CHOICES)}"),
            reason="bad_encoding",
        )
    if name.startswith("utf-16"):
        return Decoded(data.decode(name, "replace").removeprefix("\ufeff"), name.upper())
    plain = data.removeprefix(codecs.BOM_UTF8) if name == "utf-8" else data
    return Decoded(_lenient(plain, name), _SHOWN[name])


def _guess(data: bytes) -> Decoded:
    utf8 = _lenient(data, "utf-8")
    bad = utf8.count(BAD)
    if bad == 0:
        return Decoded(utf8, "UTF-8")
    chinese = _lenient(data, "gb18030")
    worse = chinese.count(BAD)
    # A stray byte in UTF-8 leaves hundreds of good characters; Chinese in GB18030 leaves hardly any.
    good = sum(letter > "\x7f" and letter != BAD for letter in utf8)
    if good > 4 * bad or (worse >= bad and worse > 0 and good >= bad):
        return Decoded(utf8, "UTF-8")
    return Decoded(chinese, "GB18030")


def _wide(data: bytes) -> str | None:
    """UTF-16 without its mark: every second byte of digits and commas is zero."""
    sample = data[:4096]
    low, high = sample[1::2].count(0), sample[0::2].count(0)
    if low + high < 4 or (low + high) * 20 < len(sample) or min(low, high) * 10 > max(low, high):
        return None
    return "utf-16-le" if low > high else "utf-16-be"


def _lenient(data: bytes, encoding: str) -> str:
    return data.decode(encoding, "replace").replace("\0", BAD)
