"""Passwords and one-time codes: how they are made, checked and kept (argon2id; codes as SHA-256)."""

from __future__ import annotations

import secrets
import threading
import unicodedata
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from qianka.errors import BadInput, Text

MIN_LENGTH = 8
MAX_LENGTH = 200
_CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # without 0 O 1 I L U: read out and typed by people

# The parameters OWASP gives for argon2id: 19 MiB and two passes, ~30 ms. Two at a time, so a class that
# signs in within one minute costs the server 40 MiB and not gigabytes.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_AT_A_TIME = threading.BoundedSemaphore(2)


def hash_password(password: str) -> str:
    """The argon2id hash of a password, with its own salt."""
    with _AT_A_TIME:
        return _HASHER.hash(_normal(password))


def verify_password(stored: str | None, password: str) -> bool:
    """Whether the password is right; takes as long for a person who has none or does not exist."""
    known = stored or _nobody()
    with _AT_A_TIME:
        try:
            _HASHER.verify(known, _normal(password[:MAX_LENGTH]))
        except (VerificationError, InvalidHashError):
            return False
    return stored is not None and len(password) <= MAX_LENGTH


def check_password(password: str, login: str, student_number: str | None) -> None:
    """Raises BadInput for a password that anybody would try first."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise BadInput(
            Text(
                f"密码要有 {MIN_LENGTH}–{MAX_LENGTH} 个字符", f"a password has {MIN_LENGTH} to {MAX_LENGTH} characters"
            ),
            Text("换一个长一点的", "choose a longer one"),
            reason="weak_password",
        )
    plain = password.casefold()
    own = {login.casefold(), (student_number or login).casefold()}
    if plain in own or plain in {name * 2 for name in own} or len(set(plain)) < 3:
        raise BadInput(
            Text(
                "密码不能是登录名、学号或同一个字符的重复",
                "a password is not the login, the student number or one repeated character",
            ),
            Text("换一个别人猜不到的", "choose one that nobody guesses"),
            reason="weak_password",
        )


def new_code() -> str:
    """A one-time activation code of 78 random bits, such as `7QK2-M9XD-HJ4T-VB3R`."""
    letters = [secrets.choice(_CODE_ALPHABET) for _ in range(16)]
    return "-".join("".join(letters[i : i + 4]) for i in range(0, 16, 4))


def plain_code(code: str) -> str:
    """A code as typed, without what people add or change: spaces, dashes, small letters, full width."""
    text = unicodedata.normalize("NFKC", code).upper()
    return "".join(letter for letter in text if letter.isalnum())


def _normal(password: str) -> str:
    return unicodedata.normalize("NFC", password)


@lru_cache(maxsize=1)
def _nobody() -> str:
    return _HASHER.hash(secrets.token_hex(16))
