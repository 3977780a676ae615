"""A plan in words, for the person who looks at what the watching of the staging folder did, or why it did nothing."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from kb_pipeline.changes.plan import Plan

_NAMED = 5


def summarise(plan: Plan) -> str:
    """One line for each thing there is to say."""
    return "\n".join(_lines(plan)) or unchanged(plan.staged)


def unchanged(staged: int) -> str:
    """What there is to say when there is nothing to do."""
    return f"{_articles(staged)} unchanged"


def _lines(plan: Plan) -> Iterator[str]:
    if plan.guard:
        yield plan.guard
    for kind in ("ingest", "remove"):
        yield from _batches(plan, kind)
    if plan.waiting:
        yield f"{_articles(plan.waiting)} to be requested when a batch has ended"
    if plan.settling:
        yield f"changed a moment ago, perhaps still being copied: {_named(plan.settling)}"
    if plan.retrying:
        yield f"tried again from {_time(min(plan.retrying.values()))} on: {_named(plan.retrying)}"
    if plan.missing and not plan.guard:
        yield f"missing, to be removed from {_time(min(plan.missing.values()))} on: {_named(plan.missing)}"
    for reason in plan.refused.values():
        yield f"no article: {reason}"


def _batches(plan: Plan, kind: str) -> Iterator[str]:
    batches = [batch for batch in plan.outstanding if batch.kind == kind]
    if batches:
        count = sum(len(batch.signatures) for batch in batches)
        runs = f"{len(batches)} run{'s' * (len(batches) != 1)}"
        yield f"waiting for {runs} to {kind} {_articles(count)}"


def _articles(count: int) -> str:
    return f"{count:,} article{'s' * (count != 1)}"


def _named(names: Collection[str]) -> str:
    first = sorted(names)[:_NAMED]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
