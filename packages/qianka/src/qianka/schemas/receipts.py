"""Receipt files that somebody shows."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from qianka.schemas.base import Answer, Request
from qianka.schemas.submissions import HandedInFile


class ReceiptText(Request):
    """A receipt file, exactly as it was saved."""

    text: str = Field(min_length=1, max_length=4 << 20)


class VerifiedReceipt(Answer):
    """What a receipt with a good signature says."""

    ours: bool
    """signed by this platform; else by another one, whose key is not known here"""
    key_id: str
    receipt: str
    submission: str
    login: str
    student_number: str | None = None
    cohort: str
    lab: str
    submitted_at: datetime
    late: bool
    filename: str
    size: int
    archive_sha256: str
    tree_sha256: str
    files: list[HandedInFile] = Field(default_factory=list)
