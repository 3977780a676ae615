"""Records the usage of models, and computes its cost.

A backend reports each call with :func:`record_usage`, with the numbers that its provider returned. The code that makes
a layer or an answer collects them with :func:`metering`.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from kb_pipeline.records import Price, Usage

_collector: ContextVar[list[Usage] | None] = ContextVar("usage", default=None)


def record_usage(usage: Usage) -> None:
    """Report a call to a model. Outside of :func:`metering` this does nothing."""
    collected = _collector.get()
    if collected is not None:
        collected.append(usage)


@contextmanager
def metering() -> Iterator[list[Usage]]:
    """Collect the usage that is reported inside the block, in this thread and in those with a copy of its context."""
    collected: list[Usage] = []
    token = _collector.set(collected)
    try:
        yield collected
    finally:
        _collector.reset(token)


@contextmanager
def timed_use(model: str, calls: int = 1) -> Iterator[None]:
    """Report the seconds spent inside the block.

    If the backend reports no usage itself, it is free, and its ``calls`` are reported with a cost of 0.
    """
    collected = _collector.get()
    before = len(collected) if collected is not None else 0
    started = time.perf_counter()
    succeeded = 0
    try:
        yield
        succeeded = calls
    finally:
        has_reported = bool(collected and len(collected) > before)
        seconds = round(time.perf_counter() - started, 4)
        record_usage(
            Usage(model=model, seconds=seconds)
            if has_reported
            else Usage(model=model, calls=succeeded, seconds=seconds, cost=0.0)
        )


def total(usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """Add up usage: one entry for each model, in order of name. A cost is ``None`` only if no part of it is known."""
    by_model: dict[str, Usage] = {}
    for usage in usages:
        previous = by_model.get(usage.model)
        by_model[usage.model] = _sum(previous, usage) if previous else usage
    return tuple(by_model[model] for model in sorted(by_model))


def _sum(left: Usage, right: Usage) -> Usage:
    costs = [cost for cost in (left.cost, right.cost) if cost is not None]
    return Usage(
        model=left.model,
        calls=left.calls + right.calls,
        input_tokens=left.input_tokens + right.input_tokens,
        output_tokens=left.output_tokens + right.output_tokens,
        pages=left.pages + right.pages,
        seconds=round(left.seconds + right.seconds, 4),
        cost=sum(costs) if costs else None,
    )


def priced(usages: Iterable[Usage], prices: Sequence[Price]) -> tuple[Usage, ...]:
    """Totals by model with their cost; ``None`` for a paid model that is not in the price table."""
    return tuple(usage.model_copy(update={"cost": _cost(usage, prices)}) for usage in total(usages))


def _cost(usage: Usage, prices: Sequence[Price]) -> float | None:
    matches = [price for price in prices if usage.model == price.model or usage.model.startswith(f"{price.model}-")]
    if not matches:
        return usage.cost
    price = max(matches, key=lambda price: len(price.model))  # gpt-4.1-mini before gpt-4.1
    tokens = usage.input_tokens * price.input_tokens + usage.output_tokens * price.output_tokens
    return round(tokens / 1e6 + usage.pages * price.pages / 1e3 + usage.calls * price.call, 8)
