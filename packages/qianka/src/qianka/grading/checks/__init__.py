"""The kinds of checks: each turns figures into points and one sentence. A check file stays below 80 lines."""
