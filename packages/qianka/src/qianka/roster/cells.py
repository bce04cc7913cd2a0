"""Cleaning of single cells: what spreadsheets and keyboards do to numbers and names."""

from __future__ import annotations

import re
import unicodedata

from qianka.errors import Text
from qianka.roster.decoding import BAD

_SCIENTIFIC = re.compile(r"[+-]?\d+([.,]\d+)?[eE][+-]?\d+")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_NUMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_EMAIL = re.compile(r"[^\s@<>\"']{1,64}@[^\s@<>\"']{1,190}")
_MOJIBAKE = ("锟斤拷", "烫烫", "\u00c3\u00a5", "ï»¿")
MAX_NAME = 64


class CellError(ValueError):
    """A cell that cannot be taken; `code` names the kind."""

    def __init__(self, code: str, zh: str, en: str) -> None:
        super().__init__(en)
        self.code = code
        self.text = Text(zh, en)


def student_number(cell: str) -> str:
    """A student number as text: full-width digits made plain, Excel's own marks taken off.

    Raises CellError for one that a spreadsheet has already destroyed.
    """
    text = _compact(cell)
    if text.startswith("=") and text.endswith('"'):
        text = text[1:].strip('"')
    text = text.lstrip("'‘’`").strip()
    if not text:
        raise CellError("no_number", "没有学号", "there is no student number")
    if _SCIENTIFIC.fullmatch(text):
        raise CellError(
            "scientific",
            f"学号 {text} 被 Excel 变成了科学计数法，后几位已丢失："
            "从教务系统重新导出，在 Excel 里用“数据→从文本/CSV”打开，把学号列设为“文本”",
            f"Excel turned the student number into {text} and lost its last digits: "
            "export again and import that column as text",
        )
    if _DECIMAL.fullmatch(text):
        raise CellError(
            "decimal",
            f"学号 {text} 带小数点：把学号列设为“文本”后重新导出",
            f"the student number {text} has a decimal point: make the column text and export again",
        )
    if not _NUMBER.fullmatch(text):
        raise CellError(
            "bad_number",
            f"学号 {text[:40]!r} 不合格（只含字母、数字、_ 和 -，最多 32 位）",
            f"the student number {text[:40]!r} is not valid (letters, digits, _ and -, at most 32)",
        )
    return text


def name(cell: str) -> str:
    """A person's name on one line, in NFC. Raises CellError when there is none or it is damaged."""
    text = unicodedata.normalize("NFC", cell)
    if any(mark in text for mark in _MOJIBAKE):
        raise CellError(
            "mojibake",
            f"姓名 {text[:20]!r} 在导出前就已是乱码：从教务系统重新导出",
            f"the name {text[:20]!r} was garbled before it was exported: export it again",
        )
    text = "".join(" " if letter in "\r\n\t\v\f\u2028\u2029" else letter for letter in text)
    text = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co"))
    words = text.split()
    text = words[0] if words else ""
    for word in words[1:]:
        # A line break inside a Chinese name is no space between words.
        text += word if _is_chinese(text[-1]) and _is_chinese(word[0]) else f" {word}"
    if not text:
        raise CellError("no_name", "没有姓名", "there is no name")
    if len(text) > MAX_NAME:
        raise CellError(
            "long_name",
            f"姓名超过 {MAX_NAME} 个字（引号没有成对？）",
            f"the name is longer than {MAX_NAME} characters (an unpaired quote?)",
        )
    return text


def login(cell: str) -> str:
    """A login in lower case, "" for an empty cell. Raises CellError."""
    text = _compact(cell).lower()
    if text and (not _LOGIN.fullmatch(text) or text == "system"):
        raise CellError(
            "bad_login",
            f"登录名 {text[:40]!r} 不合格（小写字母、数字、点、_ 和 -，最多 32 位）",
            f"the login {text[:40]!r} is not valid (a-z 0-9 . _ -, at most 32)",
        )
    return text


def email(cell: str) -> str:
    """An e-mail address, "" for an empty cell. Raises CellError."""
    text = _compact(cell)
    if text and not _EMAIL.fullmatch(text):
        raise CellError("bad_email", f"邮箱 {text[:40]!r} 不合格", f"the e-mail address {text[:40]!r} is not valid")
    return text


def section(cell: str) -> str:
    """The name of a class, on one line, at most 64 characters."""
    text = unicodedata.normalize("NFC", cell)
    plain = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") else letter for letter in text
    )
    return " ".join(plain.split())[:MAX_NAME]


def heading(cell: str) -> str:
    """A column name made comparable: no case, no spaces, no punctuation, plain width."""
    text = unicodedata.normalize("NFKC", cell).casefold()
    return "".join(letter for letter in text if letter.isalnum())


def is_broken(cell: str) -> bool:
    """Whether a byte of the cell could not be decoded."""
    return BAD in cell


def _compact(cell: str) -> str:
    text = unicodedata.normalize("NFKC", cell)
    return "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf", "Zs", "Zl", "Zp"))


def _is_chinese(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or letter >= "\U00020000" or letter == "·"
