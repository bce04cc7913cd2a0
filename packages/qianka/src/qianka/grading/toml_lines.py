"""Where a key stands in a lab.toml."""

from qianka.tomlfile.lines import KeyPath as KeyPath
from qianka.tomlfile.lines import line_of as line_of
from qianka.tomlfile.lines import line_of_error as line_of_error
from qianka.tomlfile.lines import scan as scan
