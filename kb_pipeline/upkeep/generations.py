"""Promotes, switches and drops generations of the index.

A change of the embedding model or of the chunking makes a new generation, which is filled beside the live one. Readers
are switched to it once it holds every published article, and answers known questions as well as the live one. The
former generation is kept for some days, so that readers can be switched back.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kb_pipeline.errors import SearchError
from kb_pipeline.evaluation.gate import GateDecision, accept_generation, judge_generation
from kb_pipeline.flow.access_binding import bind_all
from kb_pipeline.flow.index_state import IndexState
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.catalog import Generation, LiveIndex
from kb_pipeline.wording import counted


@dataclass(frozen=True)
class Promotion:
    """Whether readers were switched to the new generation, and why or why not.

    ``verdict`` is the result of the evaluation, if the generation got that far.
    """

    switched: bool
    reason: str
    verdict: GateDecision | None = None


def promote_when_complete(workspace: Workspace, state: IndexState, now: str) -> Promotion:
    """Switch readers to the generation of these settings if it is complete and not worse than the live one."""
    live, building = workspace.catalog.live(), workspace.generation
    if live is None or live.generation.id == building.id:
        return Promotion(False, "")
    if live.held == building.id:
        return Promotion(False, f"generation {building.id} is held back; kb generations --switch {building.id}")
    if not state.articles:
        return Promotion(False, f"generation {building.id} waits for its first article")
    if not state.is_complete:
        waiting = len({*state.pending, *state.missing, *state.stale})
        first = ", ".join((*state.pending, *state.missing, *state.stale)[:5])
        advice = f"ingest them ({first}, …), or put back a version that is good: kb rollback ARTICLE"
        return Promotion(False, f"generation {building.id} waits for {counted(waiting, 'article')}; {advice}")
    verdict = judge_generation(workspace, live.generation, now)
    if not verdict.passed:
        return Promotion(False, verdict.reason, verdict)
    workspace.catalog.switch(building, at=now)
    message = f"readers use generation {building.id} now, {live.generation.id} is kept so that you can switch back"
    return Promotion(True, "; ".join(filter(None, (verdict.reason, message))), verdict)


def switch_to(workspace: Workspace, generation_id: str, now: str) -> LiveIndex:
    """Switch readers to a generation by hand. The generation that they leave is not promoted again automatically.

    The last evaluation of the new generation is accepted, so that later evaluations are compared with it.

    Raises:
        SearchError: there is no such generation, or it is empty.
    """
    generations = {generation.id: generation for generation in workspace.catalog.generations()}
    if generation_id not in generations:
        raise SearchError(f"there is no generation {generation_id!r}; there are: {', '.join(generations) or 'none'}")
    live = workspace.catalog.live()
    left = live.generation.id if live else None
    if live and left == generation_id:
        return live  # already live; a generation that is held back stays so
    bind_all(workspace)  # its articles may have been restricted since it was filled
    held = left if left == workspace.generation.id else None
    after = workspace.catalog.switch(generations[generation_id], held=held, at=now)
    accept_generation(workspace.settings, generation_id)
    return after


def clean_up(workspace: Workspace, now: datetime) -> list[Generation]:
    """Drop and return the generations that are not live, not being filled and no longer kept to switch back to."""
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
