"""`python -m qianka.cli`: the same as `qianka`."""

import sys

from qianka.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
