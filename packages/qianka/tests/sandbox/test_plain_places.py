"""Backend "none": places inside become real places, by whole path components."""

from __future__ import annotations

import pytest
from qianka.sandbox.plain import places, real

JOB = {
    "work": "/real/tree",
    "mounts": [
        {"source": "/real/data", "target": "/data"},
        {"source": "/real/inner", "target": "/data/inner/"},
    ],
}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("/work/train.py", "/real/tree/train.py"),
        ("/work", "/real/tree"),
        ("/workshop/x", "/workshop/x"),
        ("/data/x.npz", "/real/data/x.npz"),
        ("/data/inner/x", "/real/inner/x"),
        ("/database", "/database"),
        ("/out/model.pt", "/jobs/j-1/out/model.pt"),
        ("--out=/out", "--out=/out"),
        ("", ""),
    ],
)
def test_places(word: str, meant: str) -> None:
    assert real(word, places(JOB, "/jobs/j-1/out")) == meant


@pytest.mark.parametrize(
    ("sources", "meant"),
    [
        (["/real/cache/a", "/real/cache/b"], "/real/cache"),
        (["/real/cache/a", "/other/cache/b"], "/cache"),
        (["/real/cache/a", "/real/cache/c"], "/cache"),
    ],
)
def test_a_folder_of_mounts_is_real_where_they_lie_together(sources: list[str], meant: str) -> None:
    mounts = [
        {"source": source, "target": target} for source, target in zip(sources, ("/cache/a", "/cache/b"), strict=True)
    ]
    assert real("/cache", places({"mounts": mounts}, "/jobs/j-1/out")) == meant
