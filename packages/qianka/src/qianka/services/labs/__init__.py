"""Labs: check a folder, publish it in a cohort, prepare its data, time its reference solution."""

from qianka.services.labs.check import Report as Report
from qianka.services.labs.check import check_lab as check_lab
from qianka.services.labs.folders import loaded as loaded
from qianka.services.labs.folders import version_folder as version_folder
from qianka.services.labs.handout import handout as handout
from qianka.services.labs.handout import picture as picture
from qianka.services.labs.publish import change_dates as change_dates
from qianka.services.labs.publish import publish as publish
from qianka.services.labs.view import get as get
from qianka.services.labs.view import list_labs as list_labs
from qianka.services.labs.view import public_version as public_version
from qianka.services.labs.view import readiness as readiness
