"""All tables; importing this module registers them with `Base.metadata`."""

from qianka.store.tables.base import Base as Base
from qianka.store.tables.boards import Board as Board
from qianka.store.tables.boards import Entry as Entry
from qianka.store.tables.boards import EntryReceipt as EntryReceipt
from qianka.store.tables.boards import Standing as Standing
from qianka.store.tables.groups import Group as Group
from qianka.store.tables.groups import Grouping as Grouping
from qianka.store.tables.groups import GroupMember as GroupMember
from qianka.store.tables.jobs import Job as Job
from qianka.store.tables.jobs import Ledger as Ledger
from qianka.store.tables.jobs import Run as Run
from qianka.store.tables.labs import Lab as Lab
from qianka.store.tables.labs import Reference as Reference
from qianka.store.tables.people import Cohort as Cohort
from qianka.store.tables.people import Enrollment as Enrollment
from qianka.store.tables.people import Person as Person
from qianka.store.tables.people import Token as Token
from qianka.store.tables.records import Audit as Audit
from qianka.store.tables.records import Event as Event
from qianka.store.tables.records import Lease as Lease
from qianka.store.tables.submissions import Attempt as Attempt
from qianka.store.tables.submissions import Grade as Grade
from qianka.store.tables.submissions import Receipt as Receipt
from qianka.store.tables.submissions import Submission as Submission
