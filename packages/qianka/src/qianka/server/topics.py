"""Topics of the live stream: who may hear of what, and under which name."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sqlalchemy.orm import Session

from qianka.errors import BadInput, NotFound, Text
from qianka.schemas.events import Event
from qianka.services import access, events
from qianka.services.platform import Caller, Platform

MOST = 50
ME = "me"
_TOLD_FROM_THE_BEGINNING = ("attempt:", "job:")


class Topics:
    """What one page wants to hear of, such as `me,cohort:ai-2026,attempt:a-1`."""

    def __init__(self, caller: Caller, text: str) -> None:
        """Raises BadInput for none or too many."""
        self.caller = caller
        self.names = sorted({name.strip() for name in text.split(",") if name.strip()})
        if not 1 <= len(self.names) <= MOST:
            raise BadInput(Text(f"要 1 到 {MOST} 个主题", f"1 to {MOST} topics"), reason="topics")

    @property
    def stored(self) -> list[str]:
        """As the event table names them: the browser need not know the number of its person."""
        mine = self._mine
        return [mine if name == ME and mine else name for name in self.names]

    @property
    def of_one_run(self) -> bool:
        """Only gradings and jobs, whose events are told from their beginning."""
        return all(name.startswith(_TOLD_FROM_THE_BEGINNING) for name in self.names)

    def check(self, platform: Platform) -> None:
        """Raises NotFound for a topic that is none or that the caller may not know of."""
        with platform.store.reading() as session:
            for name in self.names:
                _check(session, self.caller, name)

    def as_asked(self, event: Event) -> Event:
        """The event under the name that the page used."""
        return event.model_copy(update={"topic": ME}) if event.topic == self._mine else event

    async def renamed(self, source: AsyncIterator[Event | None]) -> AsyncIterator[Event | None]:
        """A stream of events, each under the name that the page used."""
        async for event in source:
            yield None if event is None else self.as_asked(event)

    @property
    def _mine(self) -> str | None:
        return None if self.caller.person_id is None else events.topic_of_person(self.caller.person_id)


def _check(session: Session, caller: Caller, topic: str) -> None:
    kind, _, name = topic.partition(":")
    if topic == ME:
        return
    if kind == "attempt":
        access.attempt_for(session, caller, name)
    elif kind == "job":
        access.job_for(session, caller, name)
    elif kind == "board" and name.isdecimal():
        access.board_for(session, caller, int(name))
    elif kind == "board" and name.startswith("b-"):
        access.prediction_board_for(session, caller, name)
    elif kind == "cohort":
        access.cohort_for(session, caller, name)
    elif kind == "staff":
        access.require_staff(session, caller, access.cohort_for(session, caller, name).id)
    else:
        raise NotFound(Text(f"没有主题 {topic}", f"there is no topic {topic}"), reason="topics")
