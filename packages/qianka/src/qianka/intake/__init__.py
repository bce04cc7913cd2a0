"""Intake: an archive or folder becomes a checked tree, or is refused with the rule it breaks."""

from qianka.intake.rules import Rules as Rules
from qianka.intake.take import sweep as sweep
from qianka.intake.take import take as take
from qianka.intake.trees import File as File
from qianka.intake.trees import Tree as Tree
from qianka.intake.trees import digest_of as digest_of
from qianka.intake.trees import measure as measure
from qianka.intake.trees import remove as remove
