"""Jobs: submit, look at, cancel, settle.

A person's own job enters by `submit`, a stage of an attempt by `submit_stage`; the dispatcher ends both by `settle`.
"""

from qianka.services.jobs.stages import submit_stage as submit_stage
