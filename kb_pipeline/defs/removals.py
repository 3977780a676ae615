"""Articles that are gone: the guard against removing too many, and the trace they leave in Dagster's history."""

from collections.abc import Collection, Sequence

import dagster as dg

from kb_pipeline.removal import Removed
from kb_pipeline.settings import Settings

_FEW = 10
"""So many articles may always be removed, whatever share of all they are."""
_NAMED = 200


def refuse_mass_removal(settings: Settings, gone: Collection[str], known: Collection[str], *, confirmed: bool) -> None:
    """Stop before a store that is half-synchronised or not mounted empties the knowledge base.

    Raises:
        dagster.Failure: too many articles would go, and nobody confirmed it.
    """
    limit = max(_FEW, settings.delete_max_share * len(known))
    if len(gone) <= limit or confirmed:
        return
    raise dg.Failure(
        f"{len(gone)} of {len(known)} articles are gone from {settings.staging}; more than "
        f"{settings.delete_max_share:.0%} are not removed unasked, because the store may be half-synchronised or not "
        "mounted. If they are really gone, run this job with confirm_mass_removal: true, or: kb remove --missing --yes",
        allow_retries=False,
    )


def record_removals(context: dg.OpExecutionContext, removed: Sequence[Removed]) -> None:
    """Forget the partitions, and leave in the history of the index that they were there."""
    for article in removed:
        context.log_event(
            dg.AssetObservation(
                "search_index",
                partition=article.article_id,
                description="removed: gone from staging",
                metadata={"removed": True, "versions": article.versions, "last_version": article.last_version},
            )
        )
    known = set(context.instance.get_dynamic_partitions("articles"))
    for article in removed:
        if article.article_id in known:
            context.instance.delete_dynamic_partition("articles", article.article_id)
    rows = [dg.TableRecord({"article": a.article_id, "versions": a.versions}) for a in removed[:_NAMED]]
    metadata: dict[str, dg.MetadataValue] = {"removed": dg.MetadataValue.int(len(removed))}
    metadata |= {"articles": dg.MetadataValue.table(rows)} if rows else {}
    context.log_event(dg.AssetMaterialization("removed_articles", metadata=metadata))
    context.log.info(f"{len(removed)} articles removed: {', '.join(article.article_id for article in removed[:50])}")
