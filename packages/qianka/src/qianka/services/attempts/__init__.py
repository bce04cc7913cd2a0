"""Attempts: one grading of a submission, moved from stage to stage by the worker's grader."""

from qianka.services.attempts.advance import advance as advance
from qianka.services.attempts.advance import cancel_jobs as cancel_jobs
from qianka.services.attempts.comparison import Comparison as Comparison
from qianka.services.attempts.comparison import compare as compare
from qianka.services.attempts.view import get as get
from qianka.services.attempts.view import of_submission as of_submission
from qianka.services.attempts.view import rerun as rerun
