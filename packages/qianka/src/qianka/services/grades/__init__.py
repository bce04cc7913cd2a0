"""Grades: one's own, a cohort's, what staff decides about them, and the files for the registry."""

from qianka.services.grades.adjust import Decision as Decision
from qianka.services.grades.adjust import adjust as adjust
from qianka.services.grades.adjust import decisions as decisions
from qianka.services.grades.adjust import revoke as revoke
from qianka.services.grades.counted import Counted as Counted
from qianka.services.grades.export import export_csv as export_csv
from qianka.services.grades.export import export_xlsx as export_xlsx
from qianka.services.grades.lines import GradeLine as GradeLine
from qianka.services.grades.lines import MyGrade as MyGrade
from qianka.services.grades.lines import history as history
from qianka.services.grades.lines import mine as mine
from qianka.services.grades.lines import of_cohort as of_cohort
