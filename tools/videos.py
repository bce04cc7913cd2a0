"""The first week of a course as films, one a browser window: `make videos`; git ignores `videos/`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import playwright

HERE = Path(__file__).parents[1]
WALK = HERE / "tests" / "web" / "test_first_week.py"


def main() -> int:
    """Run the test of the first week under a camera; its exit code, or 2 without ffmpeg."""
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        print("先安装 ffmpeg / install ffmpeg first", file=sys.stderr)
        return 2
    films = HERE / "videos"
    shutil.rmtree(films, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        # Playwright would download an ffmpeg of its own: it takes this machine's where it finds it in that place.
        place = Path(folder) / f"ffmpeg-{revision()}" / "ffmpeg-linux"
        place.parent.mkdir()
        place.symlink_to(ffmpeg)
        cameras = {"PLAYWRIGHT_BROWSERS_PATH": folder, "QIANKA_VIDEOS": str(films)}
        command = [sys.executable, "-m", "pytest", "-q", str(WALK)]
        code = subprocess.run(command, env=os.environ | cameras, cwd=HERE, check=False).returncode
    for film in sorted(films.glob("*.webm")):
        print(film.relative_to(HERE))
    return code


def revision() -> str:
    """Which ffmpeg this Playwright asks for."""
    told = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    browsers = json.loads(told.read_text("utf-8"))["browsers"]
    return str(next(one["revision"] for one in browsers if one["name"] == "ffmpeg"))


if __name__ == "__main__":
    sys.exit(main())
