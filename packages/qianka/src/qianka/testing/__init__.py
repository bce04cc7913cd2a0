"""Public fakes and factories, imported by tests and the demo only.

platform = make_platform(tmp_path)              # fresh store, FakeClock
cohort = make_cohort(platform, cpu_hours=2)
student = make_student(platform, cohort)
engine = FakeEngine(platform.clock)
engine.programs["train"] = Program(seconds=30, stdout="epoch 1")
"""

from qianka.testing.clock import START as START
from qianka.testing.clock import FakeClock as FakeClock
from qianka.testing.engine import FakeEngine as FakeEngine
from qianka.testing.engine import Program as Program
from qianka.testing.engine import one_node as one_node
from qianka.testing.factories import caller_of as caller_of
from qianka.testing.factories import enroll as enroll
from qianka.testing.factories import make_attempt as make_attempt
from qianka.testing.factories import make_cohort as make_cohort
from qianka.testing.factories import make_job as make_job
from qianka.testing.factories import make_lab as make_lab
from qianka.testing.factories import make_person as make_person
from qianka.testing.factories import make_platform as make_platform
from qianka.testing.factories import make_student as make_student
from qianka.testing.factories import make_submission as make_submission
from qianka.testing.stores import fresh_store as fresh_store
from qianka.testing.stores import memory_store as memory_store
