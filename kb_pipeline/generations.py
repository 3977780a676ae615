"""Generations of the index: filled beside the live one, switched to when complete, kept for a way back.

A change of embedding model or chunking makes a new generation. Readers keep the old one until the new one holds
every published article, and finds the answers to known questions as well as the old one.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kb_pipeline.errors import SearchError
from kb_pipeline.evaluation.gate import Verdict, accept_generation, judge_generation
from kb_pipeline.index_state import IndexState
from kb_pipeline.search.catalog import Generation, LiveIndex
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class Promotion:
    """Whether readers were switched to the generation that is being made, and if not, what it waits for.

    ``verdict`` is what the gate found, if it came to that.
    """

    switched: bool
    reason: str
    verdict: Verdict | None = None


def promote_when_complete(workspace: Workspace, state: IndexState, now: str) -> Promotion:
    """Switch readers to the generation of these settings once it holds every article, and is not worse than theirs."""
    live, building = workspace.catalog.live(), workspace.generation
    if live is None or live.generation.id == building.id:
        return Promotion(False, "")
    if live.held == building.id:
        return Promotion(False, f"generation {building.id} is held back; kb generations --switch {building.id}")
    if not state.articles:
        return Promotion(False, f"generation {building.id} waits for its first article")
    if not state.is_complete:
        waiting = len({*state.pending, *state.missing, *state.stale})
        return Promotion(False, f"generation {building.id} waits for {waiting} articles; {_advice(state)}")
    verdict = judge_generation(workspace, live.generation, now)
    if not verdict.passed:
        return Promotion(False, verdict.reason, verdict)
    workspace.catalog.switch(building, at=now)
    switched = f"readers use generation {building.id} now, {live.generation.id} stays for a way back"
    return Promotion(True, "; ".join(filter(None, (verdict.reason, switched))), verdict)


def _advice(state: IndexState) -> str:
    first = ", ".join((*state.pending, *state.missing, *state.stale)[:5])
    return f"ingest them ({first}, …), or put back a version that is good: kb rollback ARTICLE"


def switch_to(workspace: Workspace, generation_id: str, now: str) -> LiveIndex:
    """Switch readers to a generation by hand; the one they leave is not promoted again by itself.

    What was measured of it is what later states are compared with, however it compared itself.

    Raises:
        SearchError: there is no such generation, or it is empty.
    """
    known = {generation.id: generation for generation in workspace.catalog.generations()}
    if generation_id not in known:
        raise SearchError(f"there is no generation {generation_id!r}; there are: {', '.join(known) or 'none'}")
    live = workspace.catalog.live()
    left = live.generation.id if live else None
    if live and left == generation_id:
        return live  # asked for twice: what is held stays so
    held = left if left == workspace.generation.id else None
    switched = workspace.catalog.switch(known[generation_id], held=held, at=now)
    accept_generation(workspace.settings, generation_id)
    return switched


def clean_up(workspace: Workspace, now: datetime) -> list[Generation]:
    """Drop generations that are neither live, nor being made, nor a way back any more; returns them."""
    live = workspace.catalog.live()
    if live is None:
        return []
    kept = {live.generation.id, workspace.generation.id}
    days = timedelta(days=workspace.settings.keep_generation_days)
    if live.previous and now.astimezone(UTC) - datetime.fromisoformat(live.switched_at) < days:
        kept.add(live.previous.id)
    dropped = [generation for generation in workspace.catalog.generations() if generation.id not in kept]
    for generation in dropped:
        workspace.catalog.drop(generation.id)
    return dropped
