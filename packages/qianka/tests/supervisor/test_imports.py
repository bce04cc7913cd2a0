"""What a supervisor loads decides how fast jobs start; this list may only grow with a reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import qianka
from qianka.sandbox import find
from qianka.testing.supervised import Direct, job

# Of the standard library; frozen into the interpreter or written in C, but for __future__.
STANDARD = {
    "__future__",
    "__main__",
    "_abc",
    "_codecs",
    "_collections_abc",
    "_frozen_importlib",
    "_frozen_importlib_external",
    "_imp",
    "_io",
    "_json",
    "_signal",
    "_stat",
    "_thread",
    "_warnings",
    "_weakref",
    "abc",
    "builtins",
    "codecs",
    "encodings",
    "encodings.aliases",
    "encodings.utf_8",
    "genericpath",
    "io",
    "marshal",
    "os",
    "os.path",
    "posix",
    "posixpath",
    "resource",
    "select",
    "stat",
    "sys",
    "time",
    "winreg",
    "zipimport",
}
TELL = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from qianka.supervisor.main import main
status = main(sys.argv[1:])
import os
os.write(1, chr(10).join(sorted(sys.modules)).encode())
os._exit(status)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("backend", ["none", pytest.param("bubblewrap", marks=pytest.mark.sandbox)])
def test_a_supervisor_loads_only_what_is_listed(backend: str) -> None:
    if backend == "bubblewrap" and find.bubblewrap() is None:
        pytest.skip("needs bubblewrap")
    with Direct() as runner:
        spec = job("j-1", ["/bin/true"], isolation={"backend": backend, "minimum": "none"})
        directory = runner.prepare(spec)
        source = str(Path(qianka.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", TELL, source, str(directory), "1"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] == "qianka"}
    assert loaded - ours - STANDARD == set()
    assert {name.split(".")[1] for name in ours if "." in name} == {"jobdir", "sandbox", "supervisor"}
    assert len(ours) < 40
