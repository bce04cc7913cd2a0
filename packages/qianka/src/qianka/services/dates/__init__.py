"""Dates: what holds for whom, what being late costs, extensions, and grades that follow from them."""

from qianka.services.dates.book import UNCOUNTED as UNCOUNTED
from qianka.services.dates.book import Book as Book
from qianka.services.dates.book import read as read
from qianka.services.dates.change import KEEP as KEEP
from qianka.services.dates.change import Changed as Changed
from qianka.services.dates.change import apply_dates as apply_dates
from qianka.services.dates.change import change_dates as change_dates
from qianka.services.dates.change import check_order as check_order
from qianka.services.dates.change import set_late_days as set_late_days
from qianka.services.dates.door import check_time as check_time
from qianka.services.dates.extensions import Listed as Listed
from qianka.services.dates.extensions import More as More
from qianka.services.dates.extensions import extend as extend
from qianka.services.dates.extensions import list_extensions as list_extensions
from qianka.services.dates.extensions import revoke as revoke
from qianka.services.dates.personal import dates_of as dates_of
from qianka.services.dates.personal import personal_for as personal_for
from qianka.services.dates.settle import Cause as Cause
from qianka.services.dates.settle import Move as Move
from qianka.services.dates.settle import as_facts as as_facts
from qianka.services.dates.settle import moves as moves
from qianka.services.dates.settle import names as names
from qianka.services.dates.settle import settle_people as settle_people
from qianka.services.dates.settle import write as write
from qianka.services.dates.view import Mine as Mine
from qianka.services.dates.view import mine as mine
