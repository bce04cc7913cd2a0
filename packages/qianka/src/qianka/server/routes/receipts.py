"""Receipts: whether a file that somebody shows is one."""

from __future__ import annotations

from fastapi import APIRouter

from qianka.schemas.receipts import ReceiptText, VerifiedReceipt
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import submissions

router = APIRouter(tags=["submissions"])


@router.post("/receipts/verify")
def verify_receipt(body: ReceiptText, caller: CallerDep, platform: PlatformDep) -> VerifiedReceipt:
    """Check a receipt file: every byte counts. `qianka receipt verify` does the same without a network."""
    found = submissions.verify_receipt(platform, body.text)
    facts = found.body
    return VerifiedReceipt.model_validate(
        {**facts, **facts["person"], "ours": found.is_trusted, "key_id": found.key_id}, from_attributes=False
    )
