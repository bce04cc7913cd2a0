"""The grades of a cohort for a spreadsheet: numbers of students stay text, and no cell can become a formula."""

from __future__ import annotations

import csv
import io
from typing import Any

from qianka.domain.spreadsheet import cell
from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.services import access, audit
from qianka.services.grades.counted import Counted
from qianka.services.grades.lines import GradeLine, of_cohort
from qianka.services.platform import Caller, Platform
from qianka.store.repos import labs as lab_repo

_PERSON = ["学号", "姓名", "班级", "账号", "在册"]
_DETAILS = [
    *("学号", "姓名", "账号", "实验", "结果", "评分", "迟交天数", "迟交扣分", "改分", "改分理由"),
    *("加分", "加分理由", "评语", "得分", "满分", "评分编号"),
]


def export_csv(platform: Platform, caller: Caller, cohort_slug: str) -> bytes:
    """As CSV: UTF-8 with BOM. Raises NotFound, Forbidden."""
    lines, slugs = _read(platform, caller, cohort_slug, "csv")
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([*_PERSON, *slugs, "合计"])
    for line in lines:
        points: list[Any] = [_points(line.grades.get(slug)) for slug in slugs]
        person = [_as_text(line.student_number or ""), *map(cell, (line.name, line.section, line.login))]
        writer.writerow([*person, "是" if line.active else "否", *points, f"{line.total:g}"])
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "replace")


def export_xlsx(platform: Platform, caller: Caller, cohort_slug: str) -> bytes:
    """As a workbook of two sheets: the matrix, and how each grade came about. Raises NotFound, Forbidden."""
    from openpyxl import Workbook

    lines, slugs = _read(platform, caller, cohort_slug, "xlsx")
    book = Workbook(write_only=True)
    matrix = book.create_sheet("成绩")
    matrix.freeze_panes = "C2"
    matrix.append([_text(matrix, word) for word in [*_PERSON, *slugs, "合计"]])
    for line in lines:
        person = [line.student_number or "", line.name, line.section, line.login, "是" if line.active else "否"]
        points = [one.points if (one := line.grades.get(slug)) else None for slug in slugs]
        matrix.append([*(_text(matrix, word) for word in person), *points, line.total])
    details = book.create_sheet("明细")
    details.freeze_panes = "A2"
    details.append([_text(details, word) for word in _DETAILS])
    for line in lines:
        for slug in slugs:
            if (one := line.grades.get(slug)) is not None:
                details.append(
                    [_text(details, part) if isinstance(part, str) else part for part in _detail(line, slug, one)]
                )
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _read(platform: Platform, caller: Caller, cohort_slug: str, form: str) -> tuple[list[GradeLine], list[str]]:
    """The lines and the labs in order; the export goes on record."""
    lines = of_cohort(platform, caller, cohort_slug)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        slugs = [lab.slug for lab in lab_repo.of_cohort(session, cohort.id)]
        facts = {"rows": len(lines), "form": form}
        audit.record(session, platform, caller, "grades.export", f"cohort:{cohort_slug}", **facts)
    return lines, slugs


def _detail(line: GradeLine, slug: str, one: Counted) -> list[Any]:
    grade = one.grade
    graded: list[Any] = [None, None, None, None]
    if grade is not None:
        graded = [VERDICTS[Verdict(grade.verdict)].zh, one.raw_points, grade.days_late, grade.penalty]
    decided: list[Any] = []
    for row in (one.override, one.bonus):
        decided += [None, ""] if row is None else [row.points, row.text]
    return [
        *(line.student_number or "", line.name, line.login, slug, *graded, *decided),
        "" if one.comment is None else one.comment.text,
        *(one.points, None if grade is None else grade.max_points, "" if grade is None else grade.attempt_id),
    ]


def _text(sheet: Any, text: str) -> Any:
    """A cell that is text whatever stands in it, also after somebody has edited it."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    made = WriteOnlyCell(sheet, value=None)
    made.value = ILLEGAL_CHARACTERS_RE.sub("", text)
    made.data_type = "s"  # openpyxl takes what begins with "=" for a formula
    made.number_format = "@"
    return made


def _points(one: Counted | None) -> str:
    return "" if one is None or one.points is None else f"{one.points:g}"


def _as_text(number: str) -> str:
    """A student number that a spreadsheet leaves alone: a tab before digits keeps zeros and long numbers.

    Whoever reads the file strips white space, as the roster import does.
    """
    return "\t" + number if number.isdigit() else cell(number)
