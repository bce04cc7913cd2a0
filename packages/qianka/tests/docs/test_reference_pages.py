"""The reference pages say what the code says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from qianka.domain.verdicts import VERDICTS, Verdict
from qianka.settings import Settings

PAGES = Path(__file__).resolve().parents[4] / "docs" / "reference"


def test_every_setting_has_its_row() -> None:
    page = (PAGES / "settings.md").read_text("utf-8")
    for setting in fields(Settings):
        text = setting.metadata["text"]
        row = f"| `{setting.metadata['key']}` | {setting.type} | `{setting.default}` | {text.zh} | {text.en} |"
        assert row in page


def test_every_verdict_has_its_text_and_its_row() -> None:
    assert set(VERDICTS) == set(Verdict)
    page = (PAGES / "verdicts.md").read_text("utf-8")
    for verdict, text in VERDICTS.items():
        assert f"| `{verdict.value}` | {text.zh}：{text.advice_zh} | {text.en}: {text.advice_en} |" in page
    assert [text.order for text in VERDICTS.values()] == list(range(len(VERDICTS)))
