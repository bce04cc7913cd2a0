"""TOML files that people write: every mistake is told with file, line and key."""
