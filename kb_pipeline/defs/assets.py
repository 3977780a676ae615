"""THE FLOW, top to bottom: the seven layers of an article as assets, with one partition per article.

One step computes all layers of a batch of articles: Dagster then shows the exact status of each layer and article, and
an article that fails does not fail the others.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import dagster as dg

from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.intake import taken_in_by
from kb_pipeline.defs.materialize import Progress, materialize, raise_failures
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.flow.layers import FLOW, LayerType
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

BATCH = 500
"""Articles in one run of a backfill: starting a run takes seconds, and a run that is lost loses its batch."""

_BACKENDS = {
    "local": "onnx",
    "content-understanding": "azure",
    "mistral-doc-ai": "mistral",
    "minilm": "onnx",
    "openai": "openai",
    "lancedb": "lancedb",
    "azure-ai-search": "azure",
}
"""Dagster's kind, and so its icon in the graph, for each backend; others are shown as Python."""
_GROUP = "articles"
_OWNERS = ["team:knowledge-base"]


def kinds_of(settings: Settings) -> dict[str, set[str]]:
    """Dagster's kinds of each layer: the format it has, and the backend that makes it."""

    def by(backend: str) -> str:
        return _BACKENDS.get(backend.partition("/")[0], "python")

    converter = set() if settings.analyzer == "local" else {by(settings.analyzer)}
    return {
        "staged_article": {"html", "pdf", _place(settings.staging)},
        "converted_markdown": {"markdown", *converter},
        "image_descriptions": {"image", by(settings.analyzer)},
        "document_summary": {"json"},
        "serving_article": {"markdown", _place(settings.serving or settings.home)},
        "chunks": {"json"},
        "chunk_embeddings": {"parquet", by(settings.embedder)},
        "search_index": {by(settings.index)},
    }


def _place(folder: str) -> str:
    return "azure" if folder.startswith(("abfs://", "abfss://", "az://")) else "file"


def _spec(layer: LayerType, settings: Settings, namespace: Namespace) -> dg.AssetSpec:
    return dg.AssetSpec(
        namespace.asset(layer.name),
        deps=[namespace.asset(each) for each in layer.upstream] or taken_in_by(settings, namespace),
        description=layer.description,
        kinds=kinds_of(settings)[layer.name],
        # another backend or option makes this layer and everything downstream stale
        code_version=layer(open_workspace(settings)).code_version(),
        skippable=True,
        group_name=namespace.of(_GROUP),
        owners=_OWNERS,
        metadata={"dagster/code_references": _source_of(layer)},
    )


def _source_of(layer: type) -> dg.CodeReferencesMetadataValue:
    """Lets the UI open the class in an editor."""
    file, line = inspect.getfile(layer), inspect.getsourcelines(layer)[1]
    return dg.CodeReferencesMetadataValue(
        code_references=[dg.LocalFileCodeReference(file_path=file, line_number=line, label=layer.__name__)]
    )


def knowledge_base(settings: Settings, namespace: Namespace = PLAIN) -> dg.AssetsDefinition:
    """The seven layers with the code versions and kinds that the settings mean."""

    @dg.multi_asset(
        name=namespace.of("knowledge_base"),
        specs=[_spec(layer, settings, namespace) for layer in FLOW],
        partitions_def=namespace.partitions,
        required_resource_keys={namespace.of("kb"), namespace.of("progress")},
        can_subset=True,
        backfill_policy=dg.BackfillPolicy.multi_run(BATCH),
    )
    def materialize_layers(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        """Build, publish and record the selected layers of the selected articles."""
        kb: KnowledgeBase = getattr(context.resources, namespace.of("kb"))
        progress: Progress = getattr(context.resources, namespace.of("progress"))
        selected = [layer for layer in FLOW if namespace.asset(layer.name) in context.selected_asset_keys]
        article_ids = context.partition_keys  # read once: each access is a query
        workspace = kb.workspace()
        failures = materialize(context.op_execution_context, workspace, article_ids, selected, progress, namespace)
        finish(context.op_execution_context, workspace, namespace)
        raise_failures(failures, len(article_ids))
        yield from ()  # `materialize` records every partition; a MaterializeResult cannot name one

    return materialize_layers
