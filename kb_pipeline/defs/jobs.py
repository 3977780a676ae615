"""Jobs that ingest: any list of articles, however scattered, in one run."""

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.assets import SPECS
from kb_pipeline.defs.clock import run_of
from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.materialise import Progress, materialise, raise_failures
from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.defs.resources import CHOICES, KnowledgeBase
from kb_pipeline.settings import Settings
from kb_pipeline.staleness import stale_articles
from kb_pipeline.state import load_states
from kb_pipeline.workspace import open_workspace


class IngestConfig(dg.Config):
    """Which articles to ingest."""

    articles: list[str] = Field(default=[], description="Article ids; empty: every article in the staging folder.")


@dg.op
def ingest(
    context: dg.OpExecutionContext, config: IngestConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """All layers of the articles exist and are published; new articles are partitions from now on."""
    settings = kb.settings()
    listing = open_workspace(settings).staging.list_articles()
    for reason in listing.refused.values():
        context.log.warning(reason)
    ingest_all(context, settings, config.articles or listing.article_ids, listing.article_ids, progress)


class RetryConfig(dg.Config):
    """Which failing articles to try again."""

    articles: list[str] = Field(
        default=[], description="Article ids; those that do not fail are left alone. Empty: all."
    )


@dg.op
def retry_failing(
    context: dg.OpExecutionContext, config: RetryConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """The articles whose last attempt failed are tried again, and only they."""
    settings = kb.settings()
    workspace = open_workspace(settings)
    failing = [state.article_id for state in load_states(workspace.layout) if state.failure]
    asked = set(config.articles or failing)
    chosen = [article_id for article_id in failing if article_id in asked]
    ingest_all(context, settings, chosen, workspace.staging.list_articles().article_ids, progress)


@dg.op
def refresh_stale(context: dg.OpExecutionContext, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]) -> None:
    """Articles that are missing, changed, or of other code or backends are up to date again."""
    settings = kb.settings()
    workspace = open_workspace(settings)
    stale = stale_articles(workspace, run_of(context))
    for article in stale[:100]:
        context.log.info(f"{article.article_id}: {article.reason}")
    ids = [article.article_id for article in stale]
    ingest_all(context, settings, ids, ids, progress)


def ingest_all(
    context: dg.OpExecutionContext,
    settings: Settings,
    article_ids: Sequence[str],
    staged: Sequence[str],
    progress: Progress,
) -> None:
    """Materialise all layers of the articles, then bring the control room up to date.

    Raises:
        dagster.Failure: some articles failed; the others are published.
    """
    there = set(staged)
    new = add_articles(context.instance, [article_id for article_id in article_ids if article_id in there])
    context.log.info(f"{len(article_ids)} articles, {new} of them new")
    failures = materialise(context, settings, article_ids, SPECS, progress) if article_ids else []
    finish(context, settings)
    raise_failures(failures, len(article_ids))


@dg.job(
    description="Ingest articles: all layers, in one run. Without a list: everything that is staged.",
    config=dg.RunConfig({"ingest": IngestConfig()}, resources=CHOICES),
)
def ingest_articles() -> None:
    """One run for any set of articles; partitions appear as they are found."""
    ingest()


@dg.job(
    description="Try the articles again that the asset failing_articles lists, and only those.",
    config=dg.RunConfig({"retry_failing": RetryConfig()}, resources=CHOICES),
)
def retry_failing_articles() -> None:
    """What failed for good fails again, unless its cause was mended."""
    retry_failing()


@dg.job(
    description="Ingest what is new, changed, or made by other code, options or backends than today's.",
    config=dg.RunConfig(resources=CHOICES),
)
def refresh_stale_articles() -> None:
    """A backfill of exactly what is missing or stale; `kb estimate` tells its cost before."""
    refresh_stale()
