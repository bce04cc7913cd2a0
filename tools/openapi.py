#!/usr/bin/env python3
"""Write the OpenAPI document of the HTTP API to a file: from it the web's typed client is generated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from qianka import settings
from qianka.server.app import create_app


def main() -> None:
    """openapi.py FILE"""
    document = create_app(settings.load(environment={}).settings).openapi()
    Path(sys.argv[1]).write_text(json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True), "utf-8")


if __name__ == "__main__":
    main()
