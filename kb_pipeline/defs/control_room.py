"""The control room: assets without partitions that summarize all articles.

Every run that publishes records them, so that each has a history; they can also be materialized by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from kb_pipeline.defs.events import table
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.flow.agreement import findings_in
from kb_pipeline.flow.index_state import IndexState, compare_index
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Scalar
from kb_pipeline.store.state import ArticleState, load_states
from kb_pipeline.upkeep.status import Overview, overview

_GROUP = "control_room"
OWNERS = ["team:knowledge-base"]

_NAMED = 200
"""Articles that a table lists: Dagster shows it in one piece."""

Metadata = Mapping[str, Any]


def _spec(name: str, kind: str, layers: Sequence[str], description: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        name,
        deps=[dg.AssetDep(layer, partition_mapping=dg.AllPartitionMapping()) for layer in layers],
        description=description,
        kinds={kind},
        group_name=_GROUP,
        owners=OWNERS,
        skippable=True,
    )


INDEX_STATE = _spec(
    "index_state",
    "lancedb",
    ["search_index"],
    "The search index compared with what was published: entries that are missing, stale, orphaned or doubled. The job "
    "`reconcile` repairs them.",
)
FAILING_ARTICLES = _spec(
    "failing_articles",
    "table",
    ["search_index"],
    "Articles whose newest version could not be published: the reason, since when, and how many attempts. The job "
    "`retry_failing_articles` tries them again.",
)
COSTS = _spec(
    "costs",
    "table",
    ["converted_markdown", "image_descriptions", "chunk_embeddings"],
    "What models and services were used so far: calls, tokens, pages, seconds and money, by layer and model.",
)
CONTROL_ROOM = (INDEX_STATE, FAILING_ARTICLES, COSTS)

REMOVED_ARTICLES = dg.AssetSpec(
    # no upstream: an ingest does not make it stale
    "removed_articles",
    description="The articles that each run removed from the knowledge base because they are gone from staging. Each "
    "removal is also an observation in the events of `search_index`.",
    kinds={"table"},
    group_name=_GROUP,
    owners=OWNERS,
)
"""Only the job ``remove_articles`` records it."""


@dataclass(frozen=True)
class Snapshot:
    """The state of all articles and of the index, read once."""

    overview: Overview
    index: IndexState


def read_snapshot(workspace: Workspace) -> Snapshot:
    """Read all states once, and compare them with the live index.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or the index is out of reach.
    """
    states: list[ArticleState] = list(load_states(workspace.layout))
    staged = workspace.staging.list_articles().article_ids
    return Snapshot(overview(states, findings_in(workspace.layout)), compare_index(workspace, states, staged))


def metadata_by_asset(snapshot: Snapshot) -> dict[str, Metadata]:
    """The metadata of each asset of the control room, by its name."""
    return {
        "index_state": snapshot.index.summary(),
        "failing_articles": _failures(snapshot.overview),
        "costs": _costs(snapshot.overview),
    }


def record(context: dg.OpExecutionContext, snapshot: Snapshot, namespace: Namespace) -> None:
    """Materialize the control room inside a run of another job."""
    for name, metadata in metadata_by_asset(snapshot).items():
        context.log_event(dg.AssetMaterialization(namespace.asset(name), metadata=metadata))


def named(spec: dg.AssetSpec, namespace: Namespace) -> dg.AssetSpec:
    """The asset of a knowledge base."""
    return spec.replace_attributes(
        key=namespace.asset(spec.key.path[-1]),
        deps=[
            dg.AssetDep(namespace.asset(dep.asset_key.path[-1]), partition_mapping=dep.partition_mapping)
            for dep in spec.deps
        ],
        group_name=namespace.of(_GROUP),
    )


def control_room(namespace: Namespace = PLAIN) -> dg.AssetsDefinition:
    """The assets of :data:`CONTROL_ROOM`."""

    @dg.multi_asset(
        name=namespace.of("control_room"),
        specs=[named(spec, namespace) for spec in CONTROL_ROOM],
        can_subset=True,
        required_resource_keys={namespace.of("kb")},
    )
    def record_state(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        """Record the present state in the selected assets."""
        kb: KnowledgeBase = getattr(context.resources, namespace.of("kb"))
        shown = metadata_by_asset(read_snapshot(kb.workspace()))
        for key in context.selected_asset_keys:
            yield dg.MaterializeResult(asset_key=key, metadata=shown[key.path[-1]])

    return record_state


def _failures(summary: Overview) -> Metadata:
    behind = set(summary.behind)
    rows: list[dict[str, Scalar]] = [
        {
            "article": article_id,
            "layer": failure.layer,
            "kind": failure.kind,
            "attempts": failure.attempts,
            "since": failure.first_at,
            "last": failure.last_at,
            "published": "an older version" if article_id in behind else "no",
            "error": failure.error.partition("\n")[0],
        }
        for article_id, failure in sorted(summary.failures.items())[:_NAMED]
    ]
    transient = sum(failure.transient for failure in summary.failures.values())
    return {
        "failing": len(summary.failures),
        "transient": transient,
        "older_version_published": len(summary.behind),
        "articles": summary.articles,
        "put_back": len(summary.pinned),
        **({"failures": table(rows)} if rows else {}),
    }


def _costs(summary: Overview) -> Metadata:
    rows: list[dict[str, Scalar]] = [
        {
            "layer": layer,
            **usage.model_dump(),
            "seconds": round(usage.seconds, 1),
            "cost": "unknown" if usage.cost is None else f"{usage.cost:.4f}",
        }
        for layer, usages in sorted(summary.spent.items())
        for usage in usages
    ]
    total = summary.total_spent()
    return {
        "cost": round(sum((usage.cost or 0.0 for usage in total), 0.0), 6),
        "calls": sum(usage.calls for usage in total),
        "tokens": sum(usage.input_tokens + usage.output_tokens for usage in total),
        "model_seconds": round(sum((usage.seconds for usage in total), 0.0), 1),
        **({"by_layer_and_model": table(rows)} if rows else {}),
    }
