"""Another name of `qianka.store.upgrade`."""

from __future__ import annotations

from qianka.store.upgrade import upgrade as upgrade
