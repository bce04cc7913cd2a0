"""Hand-ins: taken, limited, receipted, stored, looked at."""

from qianka.services.submissions.handin import HandedIn as HandedIn
from qianka.services.submissions.handin import hand_in as hand_in
from qianka.services.submissions.handin import key_of as key_of
from qianka.services.submissions.limits import Tries as Tries
from qianka.services.submissions.limits import day_of as day_of
from qianka.services.submissions.reading import Found as Found
from qianka.services.submissions.reading import archive_of as archive_of
from qianka.services.submissions.reading import get as get
from qianka.services.submissions.reading import list_submissions as list_submissions
from qianka.services.submissions.reading import receipt_file as receipt_file
from qianka.services.submissions.reading import receipt_of as receipt_of
from qianka.services.submissions.reading import render_receipt as render_receipt
from qianka.services.submissions.reading import search as search
from qianka.services.submissions.reading import tries as tries
from qianka.services.submissions.reading import verify_receipt as verify_receipt
from qianka.services.submissions.reading import verify_stored as verify_stored
from qianka.services.submissions.storage import ensure_tree as ensure_tree
from qianka.services.submissions.storage import rules_of as rules_of
from qianka.services.submissions.storage import sweep as sweep
from qianka.services.submissions.storage import tree_path as tree_path
from qianka.services.submissions.storage import upload_limit as upload_limit
