"""Jobs that ingest a list of articles in one run, however scattered the list is."""

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.finish import finish
from kb_pipeline.defs.materialize import Progress, materialize
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.outcome import end_with
from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.defs.resources import CHOICES, KnowledgeBase, run_of
from kb_pipeline.flow.layers import FLOW, LayerType, layers_between
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import load_states
from kb_pipeline.wording import counted


class IngestConfig(dg.Config):
    """Which articles to ingest."""

    articles: list[str] = Field(default=[], description="Article ids; empty: every article in the staging folder.")
    first_layer: str = Field(default="", description="Start with this layer; empty: with the first one of the flow.")
    last_layer: str = Field(
        default="", description="Stop after this layer; empty: publish. Before search_index nothing is published."
    )


@dg.op
def ingest(
    context: dg.OpExecutionContext, config: IngestConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """Build and publish the layers of the articles, all of them by default; new articles become partitions."""
    workspace = kb.workspace()
    layers = layers_between(config.first_layer or None, config.last_layer or None)
    listing = workspace.staging.list_articles(look_inside=True)
    for reason in listing.refused.values():
        context.log.warning(reason)
    ingest_all(
        context, workspace, config.articles or listing.article_ids, listing.article_ids, progress, kb.namespace, layers
    )


class RetryConfig(dg.Config):
    """Which failing articles to try again."""

    articles: list[str] = Field(
        default=[], description="Article ids; articles that do not fail are skipped. Empty: all failing articles."
    )


@dg.op
def retry_failing(
    context: dg.OpExecutionContext, config: RetryConfig, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]
) -> None:
    """Try the articles whose last attempt failed again."""
    workspace = kb.workspace()
    failing = [state.article_id for state in load_states(workspace.layout) if state.failure]
    selected = [article_id for article_id in failing if not config.articles or article_id in config.articles]
    ingest_all(context, workspace, selected, workspace.staging.list_articles().article_ids, progress, kb.namespace)


@dg.op
def refresh_stale(context: dg.OpExecutionContext, kb: KnowledgeBase, progress: dg.ResourceParam[Progress]) -> None:
    """Ingest the articles that are missing, changed, or made by other code or backends."""
    workspace = kb.workspace()
    stale = stale_articles(workspace, run_of(context))
    for article in stale[:100]:
        context.log.info(f"{article.article_id}: {article.reason}")
    ids = [article.article_id for article in stale]
    ingest_all(context, workspace, ids, ids, progress, kb.namespace)


def ingest_all(
    context: dg.OpExecutionContext,
    workspace: Workspace,
    article_ids: Sequence[str],
    staged: Sequence[str],
    progress: Progress,
    namespace: Namespace,
    layers: Sequence[LayerType] = FLOW,
) -> None:
    """Materialize these layers of the articles, then record the control room.

    Raises:
        dagster.Failure: articles failed, and KB_FAIL_RUNS says that this fails the run; the others are published.
    """
    staged_ids = set(staged)
    found = [article_id for article_id in article_ids if article_id in staged_ids]
    new = add_articles(context.instance, found, namespace)
    context.log.info(f"{counted(len(article_ids), 'article')}, {new} of them new")
    failures = materialize(context, workspace, article_ids, layers, progress, namespace) if article_ids else []
    finish(context, workspace, namespace)
    end_with(context, workspace, failures, len(article_ids), namespace, failed_articles)


@dg.job(
    description="Ingest articles: all layers, in one run. Without a list: everything that is staged.",
    config=dg.RunConfig({"ingest": IngestConfig()}, resources=CHOICES),
)
def ingest_articles() -> None:
    """One run for any set of articles, which become partitions."""
    ingest()


@dg.job(
    description="Holds what failed in runs that succeeded: each of them leaves a run with its failed articles here, to "
    "which their red partitions lead. To execute one again tries only its articles.",
    config=dg.RunConfig({"ingest": IngestConfig()}, resources=CHOICES),
)
def failed_articles() -> None:
    """As ``ingest_articles``, under a name whose last run may be red."""
    ingest()


@dg.job(
    description="Try again the articles that the asset failing_articles lists.",
    config=dg.RunConfig({"retry_failing": RetryConfig()}, resources=CHOICES),
)
def retry_failing_articles() -> None:
    """An article fails again unless its cause was removed."""
    retry_failing()


@dg.job(
    description="Ingest articles that are new, changed, or made by other code, options or backends.",
    config=dg.RunConfig(resources=CHOICES),
)
def refresh_stale_articles() -> None:
    """A backfill of exactly what is missing or stale; `kb estimate` shows its cost beforehand."""
    refresh_stale()
