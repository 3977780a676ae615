"""All articles at a glance, from their states: what is published, what fails, which checks failed, what was spent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kb_pipeline.metering import total
from kb_pipeline.records import CheckResult, Usage
from kb_pipeline.state import ArticleState, Failure
from kb_pipeline.steps.checks import CHECKS


@dataclass(frozen=True)
class CheckSummary:
    """One quality check over all articles: how many passed, and what it found in those that did not."""

    name: str
    passed: int
    failed: Mapping[str, CheckResult]


@dataclass
class Overview:
    """Counts over all articles. ``spent`` is all usage there ever was, by layer."""

    articles: int = 0
    published: int = 0
    pinned: dict[str, str] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    behind: list[str] = field(default_factory=list)
    """Published, with a newer version that failed: readers see an older one."""
    spent: dict[str, tuple[Usage, ...]] = field(default_factory=dict)
    checks: dict[str, CheckSummary] = field(default_factory=dict)

    def total_spent(self) -> tuple[Usage, ...]:
        """All usage by model."""
        return total(usage for layer in self.spent.values() for usage in layer)


def overview(states: Iterable[ArticleState]) -> Overview:
    """Go over all states once."""
    seen = Overview()
    spent: dict[str, list[Usage]] = {}
    made: dict[str, int] = {}
    found: dict[str, dict[str, CheckResult]] = {name: {} for name in CHECKS}
    for state in states:
        _count(seen, state)
        for layer, usage in state.spent.items():
            spent.setdefault(layer, []).extend(usage)
        for layer_state in state.layers.values():
            for check in layer_state.failed_checks:
                found.setdefault(check.name, {})[state.article_id] = check
        for name in state.layers:
            made[name] = made.get(name, 0) + 1
    seen.spent = {layer: total(usage) for layer, usage in spent.items()}
    seen.checks = {
        name: CheckSummary(name, made.get(spec.layer, 0) - len(found[name]), dict(sorted(found[name].items())))
        for name, spec in CHECKS.items()
    }
    return seen


def _count(seen: Overview, state: ArticleState) -> None:
    seen.articles += 1
    seen.published += bool(state.published)
    if state.pinned_version:
        seen.pinned[state.article_id] = state.pinned_version
    if state.failure:
        seen.failures[state.article_id] = state.failure
        if state.published:
            seen.behind.append(state.article_id)
