"""The demo's hand-ins: one sample a student, all at once, followed until each has its verdict."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from qianka.cli import following, output, samples, turnin
from qianka.cli.demo import classroom, people
from qianka.cli.embedded import Handle
from qianka.cli.samples import Outcome, Sample
from qianka.client.api import Client
from qianka.errors import Text
from qianka.schemas.submissions import Attempt, HandedIn


class Handins:
    """What was handed in by whom, and the times that the demo reports."""

    def __init__(self, platform: Handle, lab: str, chosen: Sequence[Sample]) -> None:
        self.platform = platform
        self.lab = lab
        self.samples = list(chosen)
        self.began = time.monotonic()
        self.first_line: float | None = None
        self.first_verdict: float | None = None

    def run(self) -> list[Outcome]:
        """Hand in, follow, compare: an outcome for each sample."""
        with ThreadPoolExecutor(max_workers=8) as pool:
            handed = list(pool.map(self._hand_in, range(len(self.samples))))
        outcomes = [samples.refused(sample, one) for sample, one in zip(self.samples, handed, strict=True)]
        waiting = {one.attempt.id: index for index, one in enumerate(handed) if one.attempt is not None}
        for attempt_id, attempt in self._follow(waiting).items():
            index = waiting[attempt_id]
            outcomes[index] = samples.judge(
                self.samples[index], attempt.verdict or attempt.state, attempt.points, samples.flags(attempt)
            )
        return [outcome for outcome in outcomes if outcome is not None]

    def _hand_in(self, index: int) -> HandedIn:
        sample = self.samples[index]
        with TemporaryDirectory(prefix="qianka-") as folder, classroom.student(self.platform, index) as client:
            file, name = turnin.packed(sample.path, Path(folder))
            handed = client.hand_in(classroom.COHORT, self.lab, file, filename=name)
        words = handed.submission.refusal.message if handed.submission.refusal else handed.submission.id
        self._say(index, Text(f"已提交 {words}", f"handed in {words}"))
        return handed

    def _follow(self, waiting: dict[str, int]) -> dict[str, Attempt]:
        """Each attempt once it has ended; every change is said when it happens."""
        ended: dict[str, Attempt] = {}
        last: dict[str, str] = {}
        with self.platform.client() as staff:
            for attempt_id in waiting:
                self._look(staff, attempt_id, waiting, last, ended)
            if len(ended) == len(waiting):
                return ended
            for event in staff.follow([f"attempt:{attempt_id}" for attempt_id in waiting]):
                attempt_id = event.topic.partition(":")[2]
                if attempt_id in waiting and attempt_id not in ended:
                    self._look(staff, attempt_id, waiting, last, ended)
                if len(ended) == len(waiting):
                    break
        return ended

    def _look(
        self, staff: Client, attempt_id: str, waiting: dict[str, int], last: dict[str, str], ended: dict[str, Attempt]
    ) -> None:
        attempt = staff.attempt(attempt_id)
        words = following.where(attempt)
        if attempt.state in following.ENDED:
            ended[attempt_id] = attempt
            self.first_verdict = self.first_verdict or time.monotonic() - self.began
            points = "-" if attempt.points is None else f"{attempt.points:g}/{attempt.max_points or 0:g}"
            words = f"{attempt.verdict_text or attempt.verdict}  {points}"
        if words != last.get(attempt_id):
            last[attempt_id] = words
            self._say(waiting[attempt_id], words)

    def _say(self, index: int, words: str | Text) -> None:
        now = time.monotonic() - self.began
        self.first_line = self.first_line or now
        who = f"{people.name(index)} · {self.samples[index].name}"
        said = words if isinstance(words, str) else words.say(output.language())
        output.say(f"{now:6.1f} s  {who:<24} {said}")
