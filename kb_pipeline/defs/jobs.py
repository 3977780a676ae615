"""Jobs: ingest any list of articles, however scattered, in one run."""

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.assets import SPECS, index_state
from kb_pipeline.defs.materialise import Progress, materialise, raise_failures
from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.index_state import compare_index
from kb_pipeline.settings import Settings
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
    article_ids = config.articles or list(listing.article_ids)
    staged = set(listing.article_ids)
    new = add_articles(context.instance, [article_id for article_id in article_ids if article_id in staged])
    context.log.info(f"{len(article_ids)} articles, {new} of them new")
    failures = materialise(context, settings, article_ids, SPECS, progress)
    _record_index_state(context, settings)
    raise_failures(failures, len(article_ids))


def _record_index_state(context: dg.OpExecutionContext, settings: Settings) -> None:
    try:
        state = compare_index(open_workspace(settings))
    except KnowledgeBaseError as exc:
        context.log.warning(f"the index cannot be compared with the articles: {exc}")
    else:
        context.log_event(dg.AssetMaterialization(index_state.key, metadata=dict(state.summary())))


@dg.job(description="Ingest articles: all layers, in one run. Without a list: everything that is staged.")
def ingest_articles() -> None:
    """One run for any set of articles; partitions appear as they are found."""
    ingest()
