"""The browsers in which one is signed in."""

from __future__ import annotations

from fastapi import APIRouter

from qianka.schemas.auth import Token
from qianka.server.deps import CallerDep, PlatformDep
from qianka.services import people

router = APIRouter(tags=["auth"])


@router.get("/me/sessions")
def list_sessions(caller: CallerDep, platform: PlatformDep) -> list[Token]:
    """The caller's browser sessions that are still good, newest first."""
    rows = [row for row in people.list_tokens(platform, caller) if row.kind == "session"]
    return [Token.model_validate(row).model_copy(update={"current": row.id == caller.token_id}) for row in rows]


@router.delete("/me/sessions/{session_id}", status_code=204)
def end_session(session_id: int, caller: CallerDep, platform: PlatformDep) -> None:
    """Sign out in another browser, at once."""
    people.revoke_token(platform, caller, session_id)


@router.delete("/me/sessions", status_code=204)
def end_other_sessions(caller: CallerDep, platform: PlatformDep) -> None:
    """Sign out in every browser but this one."""
    people.end_others(platform, caller)
