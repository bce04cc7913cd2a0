"""Jobs: submit, look at, cancel, settle.

A person's own job enters by `submit`, a stage of an attempt by `submit_stage`; the dispatcher ends both by `settle`.
"""

from qianka.services.jobs.arrays import JobArray as JobArray
from qianka.services.jobs.arrays import array_states as array_states
from qianka.services.jobs.arrays import cancel_array as cancel_array
from qianka.services.jobs.arrays import get_array as get_array
from qianka.services.jobs.asks import check_fits as check_fits
from qianka.services.jobs.cancel import cancel as cancel
from qianka.services.jobs.cancel import request_cancel as request_cancel
from qianka.services.jobs.dryrun import DryRun as DryRun
from qianka.services.jobs.dryrun import dry_run as dry_run
from qianka.services.jobs.own import JobRequest as JobRequest
from qianka.services.jobs.own import submit as submit
from qianka.services.jobs.reasons import REASONS as REASONS
from qianka.services.jobs.reasons import reason_text as reason_text
from qianka.services.jobs.reasons import unknown_text as unknown_text
from qianka.services.jobs.settle import settle as settle
from qianka.services.jobs.stages import submit_stage as submit_stage
from qianka.services.jobs.usage import JobUsage as JobUsage
from qianka.services.jobs.usage import Look as Look
from qianka.services.jobs.usage import usage_of as usage_of
from qianka.services.jobs.view import LogPiece as LogPiece
from qianka.services.jobs.view import QueueView as QueueView
from qianka.services.jobs.view import get as get
from qianka.services.jobs.view import list_jobs as list_jobs
from qianka.services.jobs.view import names_of as names_of
from qianka.services.jobs.view import queue_view as queue_view
from qianka.services.jobs.view import read_log as read_log
