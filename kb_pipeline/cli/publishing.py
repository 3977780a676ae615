"""What commands do with articles that they staged or removed themselves: ingest them, and take them from readers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from kb_pipeline.cli.progress import ResultCounter


def ingest_stale(settings: Settings, article_ids: Sequence[str]) -> "ResultCounter | None":
    """Ingest those of these articles that are new, changed or outdated, as ``kb ingest --changed`` would."""
    from kb_pipeline.cli.progress import ResultCounter, build_with_bar, summarise
    from kb_pipeline.flow.stale import stale_articles
    from kb_pipeline.flow.workspace import open_workspace

    wanted = set(article_ids)
    stale = [each.article_id for each in stale_articles(open_workspace(settings)) if each.article_id in wanted]
    if not stale:
        return None
    tally = ResultCounter("ingesting", len(stale))
    build_with_bar(settings, "ingest_articles", {"articles": stale}, tally)
    summarise(tally, {})
    return tally


def remove_gone(settings: Settings, article_ids: Sequence[str]) -> list[str]:
    """Remove the articles that were ingested from the knowledge base, and name them."""
    from kb_pipeline.flow.workspace import open_workspace
    from kb_pipeline.store.state import known_articles
    from kb_pipeline.upkeep.remove import gone_from_staging

    workspace = open_workspace(settings)
    gone = gone_from_staging(workspace, sorted(set(article_ids) & set(known_articles(workspace.layout))))[0]
    if gone:
        from kb_pipeline.cli.run_job import run_job

        run_job(settings, "remove_articles", {"articles": gone, "confirm_mass_removal": True}).require_success()
    return gone
