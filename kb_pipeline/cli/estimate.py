"""``kb estimate``: what an ingest would do, and what it would cost."""

from rich.markup import escape

from kb_pipeline.cli.console import AsJson, OnlyArticles, ThisAnalyzer, err, new_table, out, print_json
from kb_pipeline.cli.naming import did_you_mean
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.upkeep.estimate import Estimate
from kb_pipeline.upkeep.estimate import estimate as make_estimate


def estimate(article: OnlyArticles = None, analyzer: ThisAnalyzer = None, as_json: AsJson = False) -> None:
    """Estimate the work, time and cost of an ingest. Calls no model and writes nothing.

    Without --article: estimates `kb ingest --changed`.
    """
    settings = load_settings(**({"analyzer": analyzer} if analyzer else {}))
    workspace = open_workspace(settings)
    expected = make_estimate(workspace, article)
    if expected.not_staged:
        hint = did_you_mean(expected.not_staged, workspace.staging.list_articles().article_ids)
        raise SettingsError(f"no article in {settings.staging}: {', '.join(expected.not_staged)}{hint}")
    if as_json:
        print_json(expected.as_dict())
    else:
        _print(expected)


def _print(expected: Estimate) -> None:
    failing = f", failing until they change: {expected.failing} (kb failures)" if expected.failing else ""
    refused = f", refused folders: {expected.refused} (kb status)" if expected.refused else ""
    out.print(
        f"articles to ingest: [bold]{expected.articles}[/], up to date: {expected.up_to_date}{failing}{refused}",
        soft_wrap=True,
    )
    for reason, count in expected.reasons.items():
        out.print(f"  {count} {escape(reason)}", soft_wrap=True)
    for article_id in expected.unreadable:
        err.print(f"[yellow]will fail:[/] {escape(article_id)} cannot be read", soft_wrap=True)
    if not expected.articles:
        return
    if expected.pages:
        out.print(f"pages of documents to read: {expected.pages:,}, {expected.ocr_pages:,} of them by OCR")
    out.print(f"images to describe: {expected.images_are} {expected.images}")
    sources = ", ".join(f"{count} from {source}" for source, count in expected.texts_from.items())
    counted_from = f" (articles: {escape(sources)})" if sources else ""
    out.print(f"texts to embed: about {expected.texts}, with {expected.tokens} tokens{counted_from}", soft_wrap=True)
    if expected.models:
        _print_models(expected)


def _print_models(expected: Estimate) -> None:
    table = new_table("layer", "model", "for", "seconds of one process", "cost")
    for use in expected.models:
        seconds = "unknown" if use.seconds is None else f"{use.seconds:.0f}"
        cost = "unknown" if use.cost is None else f"{use.cost:.4f}"
        table.add_row(use.layer, escape(use.model), f"{use.units} {use.unit}", seconds, cost)
    out.print(table)
    for why in dict.fromkeys(use.unknown for use in expected.models if use.unknown):
        out.print(f"[yellow]unknown:[/] {escape(why)}", soft_wrap=True)
    if expected.cost is not None:
        out.print(f"total cost: [bold]{expected.cost:.4f}[/]")
