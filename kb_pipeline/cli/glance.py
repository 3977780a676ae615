"""Everything that ``kb status`` tells, gathered once."""

from collections.abc import Mapping
from dataclasses import dataclass

from kb_pipeline.evaluation.gate import find_refusal
from kb_pipeline.index_state import IndexState, compare_index
from kb_pipeline.layers import Run
from kb_pipeline.overview import Overview, overview
from kb_pipeline.search.catalog import LiveIndex
from kb_pipeline.staleness import Stale, stale_articles
from kb_pipeline.state import ArticleState, load_states
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class LastRun:
    """The newest run that the articles remember."""

    id: str
    at: str


@dataclass(frozen=True)
class Status:
    """The knowledge base at a glance. ``refused``: folders that are no article, with the reason.

    ``refusal``: why the new generation of the index is not promoted, although it is complete.
    """

    staged: int
    refused: Mapping[str, str]
    stale: tuple[Stale, ...]
    overview: Overview
    index: IndexState
    live: LiveIndex | None
    last_run: LastRun | None
    refusal: str = ""

    def attention(self) -> dict[str, str]:
        """What is not as it should be, and the command or action that helps."""
        index = self.index
        damaged = len({*index.missing, *index.stale, *index.unserved, *index.orphaned}) + index.doubled_entries
        # a person's decision needs no attention
        is_held = self.live is not None and self.live.held == index.generation
        waiting = 0 if is_held else len(index.pending)
        found = {
            f"{len(self.overview.failures)} articles fail": ("kb failures", self.overview.failures),
            f"{len(self.stale)} articles to ingest": ("kb ingest --changed", self.stale),
            f"{len(self.refused)} folders are no articles": ("rename or mend them, see above", self.refused),
            f"{damaged} things in the index or the serving folder are wrong": ("kb reconcile", damaged),
            f"{len(index.unstaged)} articles are gone from staging": ("kb remove --missing", index.unstaged),
            f"{waiting} articles are missing in the new generation of the index": ("kb ingest --changed", waiting),
            "the new generation of the index finds less than the one in use": ("kb generations", self.refusal),
        }
        return {problem: help_ for problem, (help_, there) in found.items() if there}


def look(workspace: Workspace) -> Status:
    """Read all states and the index, list the staging folder.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or the index is out of reach.
    """
    scan = workspace.staging.scan()
    states = list(load_states(workspace.layout))
    live = workspace.catalog.live()
    is_held = live is not None and live.held == workspace.generation.id  # a person's decision needs no other reason
    return Status(
        staged=len(scan.signatures),
        refused=scan.refused,
        stale=tuple(stale_articles(workspace, Run("look", ""))),
        overview=overview(states),
        index=compare_index(workspace, states, scan.signatures.keys()),
        live=live,
        last_run=max((_last_run(state) for state in states), key=lambda run: run.at, default=None),
        refusal=find_refusal(workspace, live.generation.id) if live and not is_held else "",
    )


def _last_run(state: ArticleState) -> LastRun:
    runs = [LastRun(layer.run_id, layer.made_at) for layer in state.layers.values()]
    runs += [LastRun(state.failure.run_id, state.failure.last_at)] if state.failure else []
    runs += [LastRun(version.run_id, version.published_at) for version in state.published[-1:]]
    return max(runs, key=lambda run: run.at, default=LastRun("", ""))
