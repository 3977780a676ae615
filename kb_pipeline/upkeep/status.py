"""The status of the knowledge base: articles by their states, quality checks, usage, the index, and what needs work."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kb_pipeline.errors import IndexDamagedError
from kb_pipeline.evaluation.gate import find_refusal
from kb_pipeline.flow.agreement import findings_in
from kb_pipeline.flow.index_state import IndexState, compare_index
from kb_pipeline.flow.stale import Stale, stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import CheckResult, Usage
from kb_pipeline.search.catalog import LiveIndex
from kb_pipeline.services.usage import total
from kb_pipeline.steps.agreement.findings import STATEMENTS_AGREE, Finding, statements_agree
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.store.state import ArticleState, BuildFailure, load_states
from kb_pipeline.wording import counted

NO_ARTICLES = ("file or folder is not an article", "files or folders are not articles")


@dataclass(frozen=True)
class CheckSummary:
    """One quality check over all articles: how many passed, and the results of those that failed, by article id.

    ``runs``: in which run each of them failed.
    """

    name: str
    passed: int
    failed: Mapping[str, CheckResult]
    runs: Mapping[str, str]

    def failed_in(self, run_id: str) -> dict[str, CheckResult]:
        """Those that failed in this run, by article id."""
        return {article_id: result for article_id, result in self.failed.items() if self.runs[article_id] == run_id}


@dataclass
class Overview:
    """Counts over all articles. ``spent`` is all usage so far, by layer."""

    articles: int = 0
    published: int = 0
    pinned: dict[str, str] = field(default_factory=dict)
    failures: dict[str, BuildFailure] = field(default_factory=dict)
    behind: list[str] = field(default_factory=list)
    """Articles whose newest version failed, so that readers see an older one."""
    spent: dict[str, tuple[Usage, ...]] = field(default_factory=dict)
    checks: dict[str, CheckSummary] = field(default_factory=dict)

    def total_spent(self) -> tuple[Usage, ...]:
        """All usage by model."""
        return total(usage for layer in self.spent.values() for usage in layer)


def overview(
    states: Iterable[ArticleState], findings: Mapping[str, Sequence[Finding]] = MappingProxyType({})
) -> Overview:
    """Summarise all states, in one pass. ``findings`` are statements that contradict one another, by article id."""
    result = Overview()
    spent: dict[str, list[Usage]] = {}
    made: Counter[str] = Counter()
    failed: dict[str, dict[str, CheckResult]] = {name: {} for name in CHECKS}
    runs: dict[str, dict[str, str]] = {name: {} for name in CHECKS}
    for state in states:
        _count(result, state)
        for layer, usage in state.spent.items():
            spent.setdefault(layer, []).extend(usage)
        for layer_state in state.layers.values():
            for check in layer_state.failed_checks:
                failed.setdefault(check.name, {})[state.article_id] = check
                runs.setdefault(check.name, {})[state.article_id] = layer_state.run_id
        made.update(state.layers.keys())
        if contradicted := findings.get(state.article_id):
            failed[STATEMENTS_AGREE][state.article_id] = statements_agree(contradicted)
            runs[STATEMENTS_AGREE][state.article_id] = contradicted[-1].run_id
    result.spent = {layer: total(usage) for layer, usage in spent.items()}
    result.checks = {
        name: CheckSummary(name, made[spec.layer] - len(failed[name]), dict(sorted(failed[name].items())), runs[name])
        for name, spec in CHECKS.items()
    }
    return result


def _count(result: Overview, state: ArticleState) -> None:
    result.articles += 1
    result.published += bool(state.published)
    if state.pinned_version:
        result.pinned[state.article_id] = state.pinned_version
    if state.failure:
        result.failures[state.article_id] = state.failure
        if state.published:
            result.behind.append(state.article_id)


@dataclass(frozen=True)
class LastRun:
    """The newest run in the states of the articles."""

    id: str
    at: str


@dataclass(frozen=True)
class Status:
    """The status of the knowledge base.

    Attributes:
        staged: how many articles are staged.
        refused: files and folders that are not articles, with the reason.
        stale: articles to ingest.
        overview: counts over all articles.
        index: the index compared with the published articles.
        live: the generation that readers use.
        last_run: the newest run.
        refusal: why the new generation of the index is not promoted although it is complete.
        damaged_states: descriptions of damaged state files.
        hidden: articles that nobody may read although they do not fail, with the reason: their lists are damaged.
    """

    staged: int
    refused: Mapping[str, str]
    stale: tuple[Stale, ...]
    overview: Overview
    index: IndexState
    live: LiveIndex | None
    last_run: LastRun | None
    refusal: str = ""
    damaged_states: tuple[str, ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)

    def attention(self) -> dict[str, str]:
        """The problems that need attention, each with the command or action that helps."""
        index = self.index
        damaged = len({*index.missing, *index.stale, *index.unserved, *index.orphaned}) + index.doubled_entries
        # a generation that a person holds back needs no attention
        is_held = self.live is not None and self.live.held == index.generation
        waiting = 0 if is_held else len(index.pending)
        problems = (
            (len(self.damaged_states), "article's state is damaged", "articles' states are damaged", "kb reconcile"),
            (
                len(self.hidden),
                "article is hidden from everybody",
                "articles are hidden from everybody",
                "kb reconcile",
            ),
            (len(self.overview.failures), "article fails", "articles fail", "kb failures"),
            (len(self.stale), "article to ingest", "articles to ingest", "kb ingest --changed"),
            (len(self.refused), *NO_ARTICLES, "rename or fix them (listed above)"),
            (
                damaged,
                "entry or file is wrong in the index or the serving folder",
                "entries or files are wrong in the index or the serving folder",
                "kb reconcile",
            ),
            (
                len(index.unstaged),
                "article is gone from staging",
                "articles are gone from staging",
                "kb remove --missing",
            ),
            (
                waiting,
                "article is missing in the new generation of the index",
                "articles are missing in the new generation of the index",
                "kb ingest --changed",
            ),
        )
        found = {"the index is damaged, readers get no answers": "kb reconcile"} if index.problem else {}
        found |= {counted(number, one, many): action for number, one, many, action in problems if number}
        if self.refusal:
            found["the new generation of the index finds less than the one in use"] = "kb generations"
        return found


def read_status(workspace: Workspace) -> Status:
    """Read all states and the index, and scan the staging folder.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or the index is out of reach.
    """
    scan = workspace.staging.scan()
    states = list(load_states(workspace.layout))
    try:
        live = workspace.catalog.live()
    except IndexDamagedError:
        live = None  # compare_index reports the damage
    is_held = live is not None and live.held == workspace.generation.id
    counts = overview(states, findings_in(workspace.layout))
    return Status(
        staged=len(scan.signatures),
        refused=scan.refused,
        stale=tuple(stale_articles(workspace)),
        overview=counts,
        index=compare_index(workspace, states, [*scan.signatures, *scan.refused]),
        live=live,
        last_run=max((_last_run(state) for state in states), key=lambda run: run.at, default=None),
        refusal=find_refusal(workspace, live.generation.id) if live and not is_held else "",
        damaged_states=tuple(state.damage for state in states if state.damage),
        hidden={key: why for key, why in workspace.access.problems().items() if key not in counts.failures},
    )


def _last_run(state: ArticleState) -> LastRun:
    runs = [LastRun(layer.run_id, layer.made_at) for layer in state.layers.values()]
    runs += [LastRun(state.failure.run_id, state.failure.last_at)] if state.failure else []
    runs += [LastRun(version.run_id, version.published_at) for version in state.published[-1:]]
    return max(runs, key=lambda run: run.at, default=LastRun("", ""))
