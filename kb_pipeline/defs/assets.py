"""THE FLOW, top to bottom: the assets, each partition one article.

One step computes all layers of a batch of articles. Dagster then knows exactly which partition of
which layer is good, while an article that fails stays alone with its failure.
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.materialise import Progress, materialise, raise_failures
from kb_pipeline.defs.partitions import articles
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.layers import FLOW, Layer, SearchIndexLayer
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.workspace import open_workspace

BATCH = 500
"""Articles per run of a backfill: a run's start costs seconds, a lost run costs its batch."""

_KINDS: dict[str, set[str]] = {
    "staged_article": {"html", "file"},
    "converted_markdown": {"markdown"},
    "image_descriptions": {"image", "onnx"},
    "serving_article": {"markdown", "file"},
    "chunks": {"json"},
    "chunk_embeddings": {"parquet", "onnx"},
    "search_index": {"lancedb"},
}
_GROUP = "knowledge_base"
_OWNERS = ["team:knowledge-base"]


def _spec(layer: type[Layer] | type[SearchIndexLayer], settings: Settings) -> dg.AssetSpec:
    return dg.AssetSpec(
        layer.name,
        deps=list(layer.upstream),
        description=f"{layer.description}\n\n{layer.__doc__}",
        kinds=_KINDS[layer.name],
        # another backend or option makes everything from here on stale
        code_version=layer(open_workspace(settings)).code_version(),
        skippable=True,
        group_name=_GROUP,
        owners=_OWNERS,
        metadata={"code": layer.__module__},
    )


SPECS: tuple[dg.AssetSpec, ...] = tuple(_spec(layer, load_settings()) for layer in FLOW)


@dg.multi_asset(
    specs=SPECS,
    partitions_def=articles,
    can_subset=True,
    backfill_policy=dg.BackfillPolicy.multi_run(BATCH),
)
def knowledge_base(
    context: dg.AssetExecutionContext, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> Iterator[dg.MaterializeResult[Any]]:
    """The selected layers of the selected articles exist, are published, and say how they came about."""
    wanted = [spec for spec in SPECS if spec.key in context.selected_asset_keys]
    article_ids = context.partition_keys  # asked once: each call is a query
    settings = kb.settings()
    failures = materialise(context.op_execution_context, settings, article_ids, wanted, progress)
    finish(context.op_execution_context, settings)
    raise_failures(failures, len(article_ids))
    yield from ()  # the results are written by partition, which a MaterializeResult cannot say
