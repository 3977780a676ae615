"""Concurrency pools: how many runs may use OCR, or a paid API, at once.

Limits are set in the UI (Deployment > Concurrency) or by ``dagster instance concurrency set ocr 1``; a pool
without a limit holds nobody up. Dagster knows one pool a step, while our step uses several services.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import dagster as dg
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext

from kb_pipeline.layers import ARTICLE_LAYERS
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import open_workspace

_PAUSE = 0.2


def pools_of(settings: Settings, wanted: Sequence[str]) -> list[str]:
    """Pools of what the layers use, in the order in which everybody claims them."""
    workspace = open_workspace(settings)
    return sorted({layer(workspace).pool() for layer in ARTICLE_LAYERS if layer.name in wanted} - {""})


@contextmanager
def claimed(context: dg.OpExecutionContext, pools: Sequence[str]) -> Iterator[None]:
    """Hold a slot in each pool; wait, and say so, until there is one."""
    step = context.get_step_execution_context().step.key
    with InstanceConcurrencyContext(context.instance, context.run) as slots:
        try:
            for pool in pools:
                _wait_for(context, slots, pool, step)
            yield
        finally:
            context.instance.event_log_storage.free_concurrency_slot_for_step(context.run_id, step)


def _wait_for(context: dg.OpExecutionContext, slots: InstanceConcurrencyContext, pool: str, step: str) -> None:
    waiting = False
    while not slots.claim(pool, step):
        if not waiting:
            context.log.info(f"waiting for a slot of the pool {pool!r}")
        waiting = True
        time.sleep(_PAUSE)  # the query behind it is made more seldom
