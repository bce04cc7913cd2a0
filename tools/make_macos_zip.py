"""Make the archive of lab 1's sample `macos-zip` from the files of `solution`, as macOS compresses a folder.

A folder around everything, UTF-8 names without the flag that says so, `.DS_Store` and a
`__MACOSX` shadow with AppleDouble files.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parent.parent / "course/labs/lab1-mnist/samples"
TOP = "实验1 张伟"
DATE = (2026, 9, 14, 21, 30, 0)
APPLE_DOUBLE = bytes.fromhex("00051607 00020000") + b"Mac OS X        " + bytes(26)
DS_STORE = bytes.fromhex("00000001 42756431") + bytes(60)


class UnflaggedName(zipfile.ZipInfo):
    """An entry whose UTF-8 name is not flagged as UTF-8, as macOS writes it."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode(), self.flag_bits & ~0x800


def main() -> None:
    """Write samples/macos-zip/handin.zip; equal input gives an equal file."""
    source = SAMPLES / "solution"
    files = {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(source.rglob("*"))
             if path.is_file() and path.name != "expect.toml"}  # fmt: skip
    entries = {f"{TOP}/": b"", f"{TOP}/.DS_Store": DS_STORE, f"__MACOSX/{TOP}/._.DS_Store": APPLE_DOUBLE}
    entries[f"{TOP}/code/"] = b""
    for name, data in files.items():
        folder, _, leaf = f"{TOP}/{name}".rpartition("/")
        entries[f"{TOP}/{name}"] = data
        entries[f"__MACOSX/{folder}/._{leaf}"] = APPLE_DOUBLE
    target = SAMPLES / "macos-zip" / "handin.zip"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries.items():
            entry = UnflaggedName(name, DATE)
            entry.external_attr = (0o40755 << 16 | 0x10) if name.endswith("/") else 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


if __name__ == "__main__":
    main()
