"""Making text that student code wrote harmless to look at."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with every character that could command a terminal or turn the writing direction made visible.

    Line breaks and tabs stay; the rest of the control characters become `\\x1b`, `\\u202e` and the like.
    """
    return "".join([c if _harmless(c) else _escaped(c) for c in text.replace("\r\n", "\n")])


def odd(character: str) -> bool:
    """Whether a character is invisible, commands a terminal, or is no character at all."""
    code = ord(character)
    return (
        code < 0x20
        or 0x7F <= code <= 0x9F
        or code in (0xAD, 0x61C, 0x180E, 0xFEFF, 0xFFFE, 0xFFFF)
        or 0x200B <= code <= 0x200F
        or 0x2028 <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or 0xD800 <= code <= 0xDFFF
        or 0xFFF9 <= code <= 0xFFFB
        or 0xE0000 <= code <= 0xE0FFF
    )


def _harmless(character: str) -> bool:
    return character in "\n\t" or not odd(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
