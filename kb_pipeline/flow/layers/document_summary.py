"""document_summary: what the article is about and the facts about it, for the list of documents.

It stands beside the serving article, not in it: a better summary makes no new version of what people read.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

from upath import UPath

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run, read_made
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer, load_converted
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.limited import doing
from kb_pipeline.records import (
    ConvertedArticle,
    DocumentEntry,
    DocumentFacts,
    DocumentSummary,
    Markdown,
    Report,
    Table,
)
from kb_pipeline.services.usage import timed_use
from kb_pipeline.steps.checks import summary_is_quoted
from kb_pipeline.steps.chunk import Titles, deferring_titles, without_deferred
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.summary import first_headings
from kb_pipeline.store.files import parse_record, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, LayerState

_SUMMARY = "summary"


class DocumentSummaryLayer(Layer):
    """The article's entry in the list of documents, with a brief and a standard summary."""

    name: ClassVar[str] = "document_summary"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article", "converted_markdown")
    version: ClassVar[str] = "1"
    description: ClassVar[str] = (
        "What the article is about, in a few of its own sentences with their pages, and its facts: type, department, "
        "author, dates, pages, headings of the first level."
    )

    def backend(self) -> str:
        return self.workspace.analyzer.summarizer

    def pool(self) -> str:
        return self.workspace.analyzer.summarize_pool

    def is_needed(self, state: ArticleState) -> bool:
        return not state.pinned_version

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        return {_SUMMARY: self.layout.summary(state.article_id)}

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        made_from = {**super().inputs(state, run), "arrived": _arrival(state)}
        with suppress(KnowledgeBaseError):  # a conversion that is damaged is made again before it is summarised
            text = load_converted(self.layout, state.article_id).markdown
            made_from |= deferral(text, self.workspace.deferred_titles)
        return made_from

    def report(self, state: ArticleState) -> Report:
        return _report(load_summary(self.layout, state.article_id))

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        article_id = state.article_id
        converted = load_converted(self.layout, article_id, state.layers.get(ConvertedMarkdownLayer.name))
        staged = load_staged(self.layout, article_id, state.layers.get(StagedArticleLayer.name))
        doing(f"summarising {staged.main}")
        with timed_use(self.workspace.analyzer.summarizer):
            now = without_deferred(converted.markdown, self.workspace.deferred_titles)
            summary = self.workspace.analyzer.summarise(converted.model_copy(update={"markdown": now}))
        entry = _entry(converted, now, staged.main, inputs["arrived"], summary)
        data = entry.model_dump_json(indent=1).encode()
        write_bytes(self.layout.summary(article_id), data)
        check = summary_is_quoted(converted.markdown, summary)
        return LayerOutput(sha256(data), _report(entry), (check,), {_SUMMARY: sha256(data)})


def _arrival(state: ArticleState) -> str:
    """The day on which the article came in, as ISO 8601."""
    return state.arrived_at[:10]


def deferral(markdown: str, titles: Titles) -> dict[str, str]:
    """What a layer is made from besides its inputs: the titles that defer sections of the text, if there are any."""
    deferring = deferring_titles(markdown, titles)
    return {"deferred": fingerprint(sorted(deferring))} if deferring else {}


def _entry(
    converted: ConvertedArticle, markdown: str, filename: str, arrived: str, summary: DocumentSummary
) -> DocumentEntry:
    facts = converted.facts or DocumentFacts()
    return DocumentEntry(
        filename=filename,
        document_type=facts.document_type,
        department=facts.department,
        author=facts.author,
        language=converted.language or "",
        upload_date=facts.upload_date or arrived,
        created=facts.created,
        changed=facts.changed,
        page_count=len(converted.pages),
        summary=summary,
        headings=first_headings(markdown),
    )


def _report(entry: DocumentEntry) -> Report:
    return {
        "file": entry.filename,
        "brief": entry.summary.brief_text,
        "standard": Markdown(text=entry.summary.standard_text),
        "document_type": entry.document_type,
        "department": entry.department,
        "author": entry.author,
        "upload_date": entry.upload_date,
        "pages": entry.page_count,
        "headings": Table(
            rows=tuple({"heading": heading.text, "page": heading.page or ""} for heading in entry.headings[:50])
        ),
    }


def load_summary(layout: Layout, article_id: str, made: LayerState | None = None) -> DocumentEntry:
    """Load the entry that :class:`DocumentSummaryLayer` wrote; ``made`` is the state to check it against.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    path, layer = layout.summary(article_id), DocumentSummaryLayer.name
    return parse_record(path, read_made(path, layer, made, _SUMMARY), DocumentEntry, layer)
