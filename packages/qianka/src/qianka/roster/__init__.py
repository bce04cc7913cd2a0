"""Rosters: a file from the university's system, read, shown, and compared with the class."""

from qianka.roster.comparing import diff as diff
from qianka.roster.grids import first_rows as first_rows
from qianka.roster.model import Change as Change
from qianka.roster.model import Diff as Diff
from qianka.roster.model import Known as Known
from qianka.roster.model import Problem as Problem
from qianka.roster.model import Roster as Roster
from qianka.roster.model import Row as Row
from qianka.roster.reading import read as read
