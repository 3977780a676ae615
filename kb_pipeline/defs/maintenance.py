"""Jobs that look after what was published: remove, reconcile, verify, put back, switch."""

from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg
from pydantic import Field

from kb_pipeline.build import ArticleResult
from kb_pipeline.defs.clock import now, run_of
from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.jobs import ingest_all
from kb_pipeline.defs.materialise import Progress
from kb_pipeline.defs.removals import record_removals, refuse_mass_removal
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.unrecorded import Unrecorded
from kb_pipeline.generations import clean_up, switch_to
from kb_pipeline.history import compare_versions, pin, release
from kb_pipeline.reconcile import Repairs, put_right
from kb_pipeline.removal import gone_from_staging, remove_all
from kb_pipeline.state import known_articles
from kb_pipeline.verification import Verification, sample, verify
from kb_pipeline.workspace import open_workspace


class RemoveConfig(dg.Config):
    """Which articles to remove."""

    articles: list[str] = Field(default=[], description="Article ids; empty: every one that is gone from staging.")
    confirm_mass_removal: bool = Field(
        default=False, description="Needed to remove more than KB_DELETE_MAX_SHARE of all articles in one run."
    )


@dg.op
def remove(context: dg.OpExecutionContext, config: RemoveConfig, kb: KnowledgeBase) -> None:
    """The articles are gone from index, serving, all layers and partitions. One that is staged again stays."""
    settings = kb.settings()
    workspace = open_workspace(settings)
    known = known_articles(workspace.layout)
    asked = config.articles or [*known, *context.instance.get_dynamic_partitions("articles")]
    gone, back = gone_from_staging(workspace, sorted(set(asked)))
    if config.articles and back:
        context.log.warning(f"{len(back)} articles are in staging and stay: {', '.join(back[:20])}")
    refuse_mass_removal(settings, gone, known, confirmed=config.confirm_mass_removal)
    removed = remove_all(workspace, gone)
    record_removals(context, removed)
    Unrecorded(settings).remove(article.article_id for article in removed)
    finish(context, settings)


class RollbackConfig(dg.Config):
    """Which article to put back."""

    article: str = Field(description="Article id.")
    version: str = Field(default="", description="Its version, or the beginning of it; empty: the one before.")
    release: bool = Field(default=False, description="Undo: publish again what the source says.")


@dg.op
def rollback(
    context: dg.OpExecutionContext,
    config: RollbackConfig,
    kb: KnowledgeBase,
    progress: dg.ResourceParam[Progress],
) -> None:
    """Readers see an earlier version of the article, until its source changes or it is released."""
    settings = kb.settings()
    workspace = open_workspace(settings)
    if config.release:
        was_pinned = release(workspace, config.article)
        context.log.info(f"{config.article}: {'released' if was_pinned else 'no version had been put back'}")
    else:
        version = pin(workspace, config.article, config.version or None, run_of(context))
        context.log.info(f"{config.article}: version {version} is put back")
    staged = workspace.staging.list_articles().article_ids
    ingest_all(context, settings, [config.article], staged, progress)


class CompareConfig(dg.Config):
    """Which versions to compare."""

    article: str = Field(description="Article id.")
    old: str = Field(description="A version, or the beginning of it.")
    new: str = Field(description="Another version, or the beginning of it.")


@dg.op
def compare(context: dg.OpExecutionContext, config: CompareConfig, kb: KnowledgeBase) -> None:
    """The difference between two versions is in the article's history, as a unified diff."""
    difference = compare_versions(open_workspace(kb.settings()), config.article, config.old, config.new)
    shown = difference or "the text and the images are the same"
    context.log_event(
        dg.AssetObservation(
            "serving_article",
            partition=config.article,
            metadata={"difference": dg.MetadataValue.md(f"```diff\n{shown}\n```")},
        )
    )


class ReconcileConfig(dg.Config):
    """What to look at more closely."""

    articles: list[str] = Field(
        default=[], description="Articles that are published anew in any case, because a verification found damage."
    )


@dg.op
def put_index_right(
    context: dg.OpExecutionContext, config: ReconcileConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """The index and the serving files are what was published; generations that nobody returns to are dropped."""
    settings = kb.settings()
    workspace = open_workspace(settings)
    repairs = put_right(workspace, config.articles)
    context.log.info(
        f"{len(repairs.restored)} articles published again, {len(repairs.removed)} orphans removed, "
        f"{len(repairs.to_build)} to be built"
    )
    dropped = [generation.id for generation in clean_up(workspace, datetime.now(UTC))]
    for generation in dropped:
        context.log.info(f"dropped generation {generation} of the index")
    context.log_event(_repaired(repairs, dropped))
    staged = workspace.staging.list_articles().article_ids
    to_build = sorted(set(repairs.to_build) & set(staged))
    ingest_all(context, settings, to_build, staged, progress)


def _repaired(repairs: Repairs, dropped: Sequence[str]) -> dg.AssetObservation:
    """What was wrong with the index, and what was done about it, in its history."""
    done: dict[str, Sequence[str]] = {
        "published_again": repairs.restored,
        "removed": repairs.removed,
        "to_build": repairs.to_build,
        "dropped_generations": dropped,
    }
    lists = {name: dg.MetadataValue.json(list(ids)) for name, ids in done.items()}
    return dg.AssetObservation("index_state", description="reconciled", metadata={**repairs.before.summary(), **lists})


class VerifyConfig(dg.Config):
    """How much to verify."""

    articles: list[str] = Field(default=[], description="Article ids; empty: this week's part of all.")
    parts: int = Field(default=12, ge=1, description="Weeks until every article was verified once.")


@dg.op
def verify_sample(
    context: dg.OpExecutionContext, config: VerifyConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """Articles were made again from their source and compared with what readers see."""
    settings = kb.settings()
    week = datetime.now(UTC).toordinal() // 7
    ids = config.articles or sample(known_articles(open_workspace(settings).layout), week, config.parts)
    wrong: list[Verification] = []
    skipped = 0
    for article_id in ids:
        result = verify(settings, article_id)
        context.log_event(_observed(result))
        wrong += [result] if result.problems else []
        skipped += bool(result.skipped)
        progress.advance([ArticleResult(article_id, (), error="; ".join(result.problems) or None)], len(ids))
    context.log.info(f"{len(ids)} articles verified, {len(wrong)} with problems, {skipped} skipped")
    if wrong:
        lines = "\n".join(f"- {result.article_id}: {'; '.join(result.problems)}" for result in wrong[:20])
        raise dg.Failure(
            f"{len(wrong)} of {len(ids)} articles are not as they should be:\n{lines}", allow_retries=False
        )


def _observed(result: Verification) -> dg.AssetObservation:
    found = "; ".join(result.problems) or (
        f"not compared: {result.skipped}" if result.skipped else "as its source says"
    )
    metadata: dict[str, dg.MetadataValue] = {
        "verified": dg.MetadataValue.text(found),
        "problems": dg.MetadataValue.json(list(result.problems)),
        "skipped": dg.MetadataValue.text(result.skipped),
    }
    return dg.AssetObservation("search_index", partition=result.article_id, metadata=metadata)


class SwitchConfig(dg.Config):
    """Which generation readers shall use."""

    generation: str = Field(description="Id of a generation of the index; kb generations lists them.")


@dg.op
def switch(context: dg.OpExecutionContext, config: SwitchConfig, kb: KnowledgeBase) -> None:
    """Readers use another generation of the index, in one step."""
    settings = kb.settings()
    live = switch_to(open_workspace(settings), config.generation, now())
    context.log.info(f"readers use generation {live.generation.id} now")
    finish(context, settings)


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
    config=dg.RunConfig({"put_index_right": ReconcileConfig()}),
)
def reconcile() -> None:
    """Nothing is described or embedded again."""
    put_index_right()


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
