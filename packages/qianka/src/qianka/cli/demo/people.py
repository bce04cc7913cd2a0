"""A made-up class, as a registrar would send it: GB18030, Chinese headings, a few rare characters."""

from __future__ import annotations

_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧"
_FIRST = "子雨思明佳一欣宇梓浩俊诗嘉文晓天若心可宁"
_SECOND = "轩涵怡杰妍博然琪睿瑶航彤霖洁凯悦辰蕾峰萱"
_RARE = {17: "𠮷田一", 64: "㼆宁"}

PASSWORD = "qianka-demo"  # noqa: S105 (printed on purpose: the demo binds to this machine only)


def student_number(index: int) -> str:
    """The number of the `index`-th student, counted from 0."""
    return f"D2026{index + 1:03d}"


def name(index: int) -> str:
    """A made-up name; the same for the same index."""
    if index in _RARE:
        return _RARE[index]
    return _SURNAMES[index * 7 % 30] + _FIRST[index * 3 % 20] + (_SECOND[index * 11 % 20] if index % 4 else "")


def roster(count: int = 120) -> bytes:
    """A CSV of `count` students in three classes."""
    lines = ["学号,姓名,班级"]
    lines += [f"{student_number(i)},{name(i)},人工智能{i * 3 // count + 1}班" for i in range(count)]
    return ("\r\n".join(lines) + "\r\n").encode("gb18030")
