"""Assignments of other systems, made into labs: nbgrader's and otter-grader's. Nothing of them is run."""

from qianka.adapters.assignments.labfolder import Made as Made
from qianka.adapters.assignments.labfolder import make as make
