"""The control room: assets without partitions that show all articles at a glance, with a history.

Every run that changes something records them; they can be materialised by hand as well.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg

from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.index_state import IndexState, compare_index
from kb_pipeline.overview import Overview, overview
from kb_pipeline.state import ArticleState, load_states
from kb_pipeline.workspace import Workspace, open_workspace

GROUP = "knowledge_base"  # the same as the flow's: with one group the UI shows the whole graph at once
OWNERS = ["team:knowledge-base"]

_NAMED = 200

Metadata = Mapping[str, dg.MetadataValue]

INDEX_STATE = dg.AssetSpec(
    "index_state",
    deps=[dg.AssetDep("search_index", partition_mapping=dg.AllPartitionMapping())],
    description="What readers find, compared with what was published: missing, stale, orphaned, doubled. "
    "The job `reconcile` puts it right.",
    kinds={"lancedb"},
    group_name=GROUP,
    owners=OWNERS,
    skippable=True,
)
FAILING_ARTICLES = dg.AssetSpec(
    "failing_articles",
    deps=[dg.AssetDep("search_index", partition_mapping=dg.AllPartitionMapping())],
    description="Articles whose newest version could not be published: since when, how often tried, why, and what "
    "to do. The job `retry_failing_articles` tries them again.",
    kinds={"table"},
    group_name=GROUP,
    owners=OWNERS,
    skippable=True,
)
COSTS = dg.AssetSpec(
    "costs",
    deps=[
        dg.AssetDep(name, partition_mapping=dg.AllPartitionMapping())
        for name in ("converted_markdown", "image_descriptions", "chunk_embeddings")
    ],
    description="What models were used for so far: calls, tokens, pages, seconds and money, by layer and model.",
    kinds={"table"},
    group_name=GROUP,
    owners=OWNERS,
    skippable=True,
)
CONTROL_ROOM = (INDEX_STATE, FAILING_ARTICLES, COSTS)

REMOVED_ARTICLES = dg.AssetSpec(
    # without upstream: an ingest does not make it out of date
    "removed_articles",
    description="Articles that went from staging, and so from the index, by run. Each also leaves an observation "
    "in the events of search_index.",
    kinds={"table"},
    group_name=GROUP,
    owners=OWNERS,
)
"""Written by the job ``remove_articles`` only."""


@dataclass(frozen=True)
class Glance:
    """All articles, seen once."""

    overview: Overview
    index: IndexState


def look(workspace: Workspace) -> Glance:
    """Read all states once, and compare them with the live index.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or the index is out of reach.
    """
    states: list[ArticleState] = list(load_states(workspace.layout))
    staged = workspace.staging.list_articles().article_ids
    return Glance(overview(states), compare_index(workspace, states, staged))


def metadata_by_asset(glance: Glance) -> dict[str, Metadata]:
    """What each asset of the control room shows."""
    return {
        "index_state": {name: _plain(value) for name, value in glance.index.summary().items()},
        "failing_articles": _failures(glance.overview),
        "costs": _costs(glance.overview),
    }


def record(context: dg.OpExecutionContext, glance: Glance) -> None:
    """Materialise the control room from within a run of something else."""
    for name, metadata in metadata_by_asset(glance).items():
        context.log_event(dg.AssetMaterialization(name, metadata=metadata))


@dg.multi_asset(specs=CONTROL_ROOM, can_subset=True)
def control_room(context: dg.AssetExecutionContext, kb: KnowledgeBase) -> Iterator[dg.MaterializeResult[Any]]:
    """All articles at a glance, as of now."""
    shown = metadata_by_asset(look(open_workspace(kb.settings())))
    for key in context.selected_asset_keys:
        yield dg.MaterializeResult(asset_key=key, metadata=shown[key.to_user_string()])


def _plain(value: int | str | bool) -> dg.MetadataValue:
    match value:
        case bool():
            return dg.MetadataValue.bool(value)
        case int():
            return dg.MetadataValue.int(value)
        case _:
            return dg.MetadataValue.text(value)


def _failures(seen: Overview) -> Metadata:
    behind = set(seen.behind)
    rows = [
        dg.TableRecord(
            {
                "article": article_id,
                "layer": failure.layer,
                "kind": "transient" if failure.transient else "permanent",
                "attempts": failure.attempts,
                "since": failure.first_at,
                "last": failure.last_at,
                "published": "an older version" if article_id in behind else "no",
                "error": failure.error.partition("\n")[0],
            }
        )
        for article_id, failure in sorted(seen.failures.items())[:_NAMED]
    ]
    transient = sum(failure.transient for failure in seen.failures.values())
    metadata: dict[str, dg.MetadataValue] = {
        "failing": dg.MetadataValue.int(len(seen.failures)),
        "transient": dg.MetadataValue.int(transient),
        "older_version_published": dg.MetadataValue.int(len(seen.behind)),
        "articles": dg.MetadataValue.int(seen.articles),
        "put_back": dg.MetadataValue.int(len(seen.pinned)),
    }
    return metadata | ({"failures": dg.MetadataValue.table(rows)} if rows else {})


def _costs(seen: Overview) -> Metadata:
    rows = [
        dg.TableRecord(
            {
                "layer": layer,
                "model": usage.model,
                "calls": usage.calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "pages": usage.pages,
                "seconds": round(usage.seconds, 1),
                "cost": "unknown" if usage.cost is None else f"{usage.cost:.4f}",
            }
        )
        for layer, usages in sorted(seen.spent.items())
        for usage in usages
    ]
    total = seen.total_spent()
    metadata: dict[str, dg.MetadataValue] = {
        "cost": dg.MetadataValue.float(round(sum((usage.cost or 0.0 for usage in total), 0.0), 6)),
        "calls": dg.MetadataValue.int(sum(usage.calls for usage in total)),
        "tokens": dg.MetadataValue.int(sum(usage.input_tokens + usage.output_tokens for usage in total)),
        "model_seconds": dg.MetadataValue.float(round(sum((usage.seconds for usage in total), 0.0), 1)),
    }
    return metadata | ({"by_layer_and_model": dg.MetadataValue.table(rows)} if rows else {})
