"""What a batch script may not say when root hands it to sbatch: the command reads files and grants powers as root.

The script is written by the service. Its `#SBATCH` lines are looked at more strictly than sbatch reads them, as
if every quote and backslash were not there: a line that could mean one of these is refused, whatever it means.
"""

from __future__ import annotations

ROOTS = (
    "bb",
    "bbf",
    "export-file",
    "get-user-env",
    "gid",
    "nodefile",
    "priority",
    "reboot",
    "uid",
    "wait",
)
"""options that read a file as root, do what only root may, or never return"""
_WHOLE = ("export",)
"""whole names that are the beginning of one above"""
_HOSTS = ("nodelist", "exclude")
"""options of which a value with a slash is a file to read"""
_FLAGS = "HhIkOQsvV"
"""short options without a value: others may follow in the same word"""
_SHORT = {"w": "nodelist", "x": "exclude", "F": "nodefile", "W": "wait"}


def refusal(script: str) -> str | None:
    """Why root does not submit `script`, naming the line; None: it may be submitted."""
    if "\0" in script:
        return "a script holds no NUL"
    for line in script.split("\n"):
        plain = line.lstrip()
        if plain[:7].upper() == "#SBATCH" and _is_roots(plain[7:]):
            return f"root does not submit a script with the line {line[:200]!r}"
    return None


def _is_roots(options: str) -> bool:
    words = options.translate({ord(mark): None for mark in "\"'\\"}).split()
    return any(_is_one(word, words[number + 1 :]) for number, word in enumerate(words))


def _is_one(word: str, following: list[str]) -> bool:
    name, value = _named(word)
    if not name:
        return False
    if name == "nice":
        return "-" in value
    if name not in _WHOLE and any(one.startswith(name) for one in ROOTS):
        return True
    # sbatch takes a beginning of a name for the name, and a value from the next word.
    is_hosts = any(one.startswith(name) for one in _HOSTS)
    return is_hosts and "/" in value + "".join(following[:1])


def _named(word: str) -> tuple[str, str]:
    """(long name, value) of a word that is an option; two empty texts for any other."""
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        return ("nice", value) if name and "nice".startswith(name) else (name, value)
    if word.startswith("-"):
        rest = word[1:].lstrip(_FLAGS)
        return (_SHORT.get(rest[0], ""), rest[1:]) if rest else ("", "")
    return "", ""
