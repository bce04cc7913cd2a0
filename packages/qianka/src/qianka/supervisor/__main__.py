"""Started by path with `-I -S`: `python -I -S …/supervisor/__main__.py JOBDIR RUN [--stage DIR] …`, or `--serve`."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if sys.argv[1:] == ["--serve"]:
        from qianka.supervisor.serve import serve

        sys.exit(serve())
    from qianka.supervisor.main import main

    sys.exit(main(sys.argv[1:]))
