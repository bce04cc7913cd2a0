"""Started by path with `-I -S`, as root: `python -I -S …/launcher/__main__.py DATA_DIR --service-uid N …`."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from qianka.launcher.main import main

    sys.exit(main(sys.argv[1:]))
