"""Write the migration that is missing between the migrations so far and the tables: `new_migration.py "what changed"`.

Read it before committing it: what was renamed looks to this tool like a drop and an add.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from alembic import command
from qianka.store.session import Store
from qianka.store.upgrade import MIGRATIONS, config_for, upgrade


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    number = len(list((MIGRATIONS / "versions").glob("[0-9]*.py"))) + 1
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/q.db")
        if number > 1:
            upgrade(store)
        with store.engine.connect() as connection:
            command.revision(
                config_for(connection), message=sys.argv[1], autogenerate=True, rev_id=f"{number:04}", head="head"
            )
        store.close()
    for path in (MIGRATIONS / "versions").glob(f"{number:04}*.py"):
        subprocess.run([str(Path(sys.executable).with_name("ruff")), "format", "--quiet", str(path)], check=True)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
