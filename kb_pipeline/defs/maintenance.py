"""Jobs that look after what was published: remove, reconcile, verify, roll back, compare, switch generations."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.events import PendingEvents, table
from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.jobs import ingest_all
from kb_pipeline.defs.materialize import Progress
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.resources import KnowledgeBase, now, run_of
from kb_pipeline.flow.build import ArticleResult
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import known_articles
from kb_pipeline.upkeep.generations import clean_up, switch_to
from kb_pipeline.upkeep.reconcile import Repairs, forget_lost_versions, repair, still_wrong
from kb_pipeline.upkeep.remove import RemovedArticle, gone_from_staging, leftovers, remove_all
from kb_pipeline.upkeep.sweep import sweep
from kb_pipeline.upkeep.verify import Verification, sample, verify
from kb_pipeline.upkeep.versions import compare_versions, pin, release
from kb_pipeline.wording import counted

_FEW = 10
"""This many articles may always be removed, whatever their share of all articles."""
_NAMED = 200
"""Articles that a table lists: Dagster shows it in one piece."""


def refuse_mass_removal(settings: Settings, gone: Collection[str], known: Collection[str], *, confirmed: bool) -> None:
    """Refuse to empty the knowledge base because the staging store is half-synchronized or not mounted.

    Raises:
        dagster.Failure: too many articles would be removed, and nobody confirmed it.
    """
    limit = max(_FEW, settings.delete_max_share * len(known))
    if len(gone) <= limit or confirmed:
        return
    raise dg.Failure(
        f"{len(gone)} of {len(known)} articles are gone from {settings.staging}; more than "
        f"{settings.delete_max_share:.0%} are removed only after confirmation, because the store may be "
        "half-synchronized or not mounted. If they are really gone, run this job with confirm_mass_removal: true, "
        "or: kb remove --missing --yes",
        allow_retries=False,
    )


def record_removals(context: dg.OpExecutionContext, removed: Sequence[RemovedArticle], namespace: Namespace) -> None:
    """Delete the partitions, and record the removals in the history of `search_index` and `removed_articles`."""
    for article in removed:
        context.log_event(
            dg.AssetObservation(
                namespace.asset("search_index"),
                partition=article.article_id,
                description="removed: gone from staging",
                metadata={"removed": True, "versions": article.versions, "last_version": article.last_version},
            )
        )
    partitions = set(context.instance.get_dynamic_partitions(namespace.articles))
    for article in removed:
        if article.article_id in partitions:
            context.instance.delete_dynamic_partition(namespace.articles, article.article_id)
    metadata: dict[str, Any] = {"removed": len(removed)}
    if removed:
        metadata["articles"] = table({"article": a.article_id, "versions": a.versions} for a in removed[:_NAMED])
    context.log_event(dg.AssetMaterialization(namespace.asset("removed_articles"), metadata=metadata))
    context.log.info(
        f"{counted(len(removed), 'article')} removed: {', '.join(article.article_id for article in removed[:50])}"
    )


class RemoveConfig(dg.Config):
    """Which articles to remove."""

    articles: list[str] = Field(default=[], description="Article ids; empty: all articles that are gone from staging.")
    confirm_mass_removal: bool = Field(
        default=False, description="Needed to remove more than KB_DELETE_MAX_SHARE of all articles in one run."
    )


@dg.op
def remove(context: dg.OpExecutionContext, config: RemoveConfig, kb: KnowledgeBase) -> None:
    """Remove the articles from index, serving, layers and partitions, unless they are staged again."""
    workspace = kb.workspace()
    article_ids = known_articles(workspace.layout)
    partitions = context.instance.get_dynamic_partitions(kb.namespace.articles)
    candidates = config.articles or [*article_ids, *partitions, *leftovers(workspace, article_ids)]
    gone, back = gone_from_staging(workspace, sorted(set(candidates)))
    if config.articles and back:
        context.log.warning(
            f"{counted(len(back), 'article is in staging and stays', 'articles are in staging and stay')}: "
            f"{', '.join(back[:20])}"
        )
    refuse_mass_removal(workspace.settings, gone, article_ids, confirmed=config.confirm_mass_removal)
    removed = remove_all(workspace, gone)
    record_removals(context, removed, kb.namespace)
    PendingEvents(workspace.settings).remove(article.article_id for article in removed)
    sweep(workspace.layout)
    finish(context, workspace, kb.namespace)


class RollbackConfig(dg.Config):
    """Which article to roll back."""

    article: str = Field(description="Article id.")
    version: str = Field(default="", description="A version, or the beginning of its id; empty: the previous one.")
    release: bool = Field(default=False, description="Undo a rollback: publish the newest version again.")


@dg.op
def rollback(
    context: dg.OpExecutionContext,
    config: RollbackConfig,
    kb: KnowledgeBase,
    progress: dg.ResourceParam[Progress],
) -> None:
    """Show readers an earlier version of the article until its source changes or it is released."""
    workspace = kb.workspace()
    if config.release:
        was_pinned = release(workspace, config.article)
        context.log.info(f"{config.article}: {'released' if was_pinned else 'no version had been put back'}")
    else:
        version = pin(workspace, config.article, config.version or None, run_of(context))
        context.log.info(f"{config.article}: version {version} is put back")
    staged = workspace.staging.list_articles().article_ids
    ingest_all(context, workspace, [config.article], staged, progress, kb.namespace)


class CompareConfig(dg.Config):
    """Which versions to compare."""

    article: str = Field(description="Article id.")
    old: str = Field(description="A version, or the beginning of its id.")
    new: str = Field(description="Another version, or the beginning of its id.")


@dg.op
def compare(context: dg.OpExecutionContext, config: CompareConfig, kb: KnowledgeBase) -> None:
    """Record the difference between two versions as a unified diff in the article's history."""
    difference = compare_versions(kb.workspace(), config.article, config.old, config.new)
    shown = difference or "the text and the images are the same"
    context.log_event(
        dg.AssetObservation(
            kb.namespace.asset("serving_article"),
            partition=config.article,
            metadata={"difference": dg.MetadataValue.md(f"```diff\n{shown}\n```")},
        )
    )


class ReconcileConfig(dg.Config):
    """What to repair in any case."""

    articles: list[str] = Field(
        default=[], description="Articles to publish again in any case, because a verification found damage."
    )


@dg.op
def reconcile_index(
    context: dg.OpExecutionContext, config: ReconcileConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """Make index and serving files match what was published, and drop old generations."""
    workspace = kb.workspace()
    repairs = repair(workspace, config.articles)
    context.log.info(
        f"{counted(len(repairs.restored), 'article')} published again, {counted(len(repairs.removed), 'orphan')} "
        f"removed, {len(repairs.to_build)} to be built, "
        f"{counted(len(repairs.mended), 'file or table', 'files or tables')} put back from copies"
    )
    for words in (*repairs.mended, *repairs.lost, *repairs.kept_out):
        context.log.warning(words)
    sweep(workspace.layout)
    dropped = [generation.id for generation in clean_up(workspace, datetime.now(UTC))]
    for generation in dropped:
        context.log.info(f"dropped generation {generation} of the index")
    context.log_event(_repaired(repairs, dropped, kb.namespace))
    staged = workspace.staging.list_articles().article_ids
    to_build = sorted(set(repairs.to_build) & set(staged))
    failed: dg.Failure | None = None
    try:
        ingest_all(context, workspace, to_build, staged, progress, kb.namespace)
    except dg.Failure as exc:
        failed = exc
    if forgotten := forget_lost_versions(workspace):
        metadata = {"lost": forgotten}
        index_state = kb.namespace.asset("index_state")
        context.log_event(dg.AssetObservation(index_state, description="lost versions", metadata=metadata))
    if unmended := [*repairs.kept_out, *still_wrong(workspace, repairs.to_build)]:
        lines = "\n".join(f"- {words}" for words in unmended[:20])
        why = f"{failed.description}\n" if failed else ""
        message = f"{why}{len(unmended)} damaged items could not be repaired:\n{lines}"
        raise dg.Failure(message, allow_retries=False) from failed
    if failed:
        raise failed


def _repaired(repairs: Repairs, dropped: Sequence[str], namespace: Namespace) -> dg.AssetObservation:
    """What was wrong with the index and what was repaired, for the history of `index_state`."""
    done: dict[str, Sequence[str]] = {
        "published_again": repairs.restored,
        "removed": repairs.removed,
        "to_build": repairs.to_build,
        "dropped_generations": dropped,
        "mended": repairs.mended,
        "lost": repairs.lost,
    }
    lists = {name: list(ids) for name, ids in done.items()}
    metadata = {**repairs.before.summary(), **lists}
    return dg.AssetObservation(namespace.asset("index_state"), description="reconciled", metadata=metadata)


class VerifyConfig(dg.Config):
    """Which articles to verify."""

    articles: list[str] = Field(default=[], description="Article ids; empty: this week's share of all articles.")
    parts: int = Field(default=12, ge=1, description="Weeks until every article has been verified once.")


@dg.op
def verify_sample(
    context: dg.OpExecutionContext, config: VerifyConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """Build articles again from their source and compare them with what readers see; first see whether they find it."""
    workspace = kb.workspace()
    workspace.catalog.probe()
    workspace.index.probe()
    week = datetime.now(UTC).toordinal() // 7
    ids = config.articles or sample(known_articles(workspace.layout), week, config.parts)
    wrong: list[Verification] = []
    skipped = 0
    for article_id in ids:
        result = verify(workspace, article_id)
        context.log_event(_observed(result, kb.namespace))
        wrong += [result] if result.problems else []
        skipped += bool(result.skipped)
        progress.advance([ArticleResult(article_id, (), error="; ".join(result.problems) or None)], len(ids))
    context.log.info(f"{counted(len(ids), 'article')} verified, {len(wrong)} with problems, {skipped} skipped")
    if wrong:
        lines = "\n".join(f"- {result.article_id}: {'; '.join(result.problems)}" for result in wrong[:20])
        raise dg.Failure(
            f"{len(wrong)} of {len(ids)} articles are not as they should be:\n{lines}", allow_retries=False
        )


def _observed(result: Verification, namespace: Namespace) -> dg.AssetObservation:
    verdict = "; ".join(result.problems) or (
        f"not compared: {result.skipped}" if result.skipped else "matches its source"
    )
    metadata: dict[str, Any] = {"verified": verdict, "problems": list(result.problems), "skipped": result.skipped}
    return dg.AssetObservation(namespace.asset("search_index"), partition=result.article_id, metadata=metadata)


class SwitchConfig(dg.Config):
    """Which generation readers shall use."""

    generation: str = Field(description="Id of a generation of the index; kb generations lists them.")


@dg.op
def switch(context: dg.OpExecutionContext, config: SwitchConfig, kb: KnowledgeBase) -> None:
    """Readers use another generation of the index, in one step."""
    workspace = kb.workspace()
    live = switch_to(workspace, config.generation, now())
    context.log.info(f"readers use generation {live.generation.id} now")
    finish(context, workspace, kb.namespace)


@dg.job(
    description="Remove articles that are gone from staging: from index, serving, all layers and partitions.",
    config=dg.RunConfig({"remove": RemoveConfig()}),
)
def remove_articles() -> None:
    """What the staging sensor asks for after the grace period."""
    remove()


@dg.job(
    description="Put an article back to an earlier published version, or release it again.",
    config=dg.RunConfig({"rollback": RollbackConfig(article="")}),
)
def rollback_article() -> None:
    """The version stays until the authors change the source."""
    rollback()


@dg.job(
    description="Show how two versions of an article differ, as an observation of serving_article.",
    config=dg.RunConfig({"compare": CompareConfig(article="", old="", new="")}),
)
def compare_article_versions() -> None:
    """Look at it before putting a version back."""
    compare()


@dg.job(
    description="Put the index and the serving files right: publish again what is missing or stale, remove orphans.",
    config=dg.RunConfig({"reconcile_index": ReconcileConfig()}),
)
def reconcile() -> None:
    """Nothing is described or embedded again."""
    reconcile_index()


@dg.job(
    description="Make a sample of articles again from their source and compare it with what readers see.",
    config=dg.RunConfig({"verify_sample": VerifyConfig()}),
)
def verify_published() -> None:
    """Finds damage that no fingerprint shows."""
    verify_sample()


@dg.job(
    description="Switch readers to another generation of the index.",
    config=dg.RunConfig({"switch": SwitchConfig(generation="")}),
)
def switch_generation() -> None:
    """For a way back after a change of embedding model or chunking."""
    switch()
