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

_BACKENDS = {
    "local": "onnx",
    "content-understanding": "azure",
    "mistral-doc-ai": "mistral",
    "minilm": "onnx",
    "openai": "openai",
    "lancedb": "lancedb",
    "azure-ai-search": "azure",
}
"""The kind, with its icon in the graph, of what makes a layer; the rest are made in Python."""
_GROUP = "knowledge_base"
_OWNERS = ["team:knowledge-base"]


def kinds_of(settings: Settings) -> dict[str, set[str]]:
    """What each layer is, and what makes it."""

    def by(backend: str) -> str:
        return _BACKENDS.get(backend.partition("/")[0], "python")

    converter = set() if settings.analyzer == "local" else {by(settings.analyzer)}
    return {
        "staged_article": {"html", _place(settings.staging)},
        "converted_markdown": {"markdown", *converter},
        "image_descriptions": {"image", by(settings.analyzer)},
        "serving_article": {"markdown", _place(settings.serving or settings.home)},
        "chunks": {"json"},
        "chunk_embeddings": {"parquet", by(settings.embedder)},
        "search_index": {by(settings.index)},
    }


def _place(folder: str) -> str:
    return "azure" if folder.startswith(("abfs://", "abfss://", "az://")) else "file"


def _spec(layer: type[Layer] | type[SearchIndexLayer], settings: Settings) -> dg.AssetSpec:
    return dg.AssetSpec(
        layer.name,
        deps=list(layer.upstream),
        description=f"{layer.description}\n\n{layer.__doc__}",
        kinds=kinds_of(settings)[layer.name],
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
