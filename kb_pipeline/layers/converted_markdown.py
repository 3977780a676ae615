"""converted_markdown: the article's text as markdown, an ``[[IMG:<file>]]`` marker for each image."""

import json
from collections.abc import Mapping
from typing import ClassVar

from pydantic import ValidationError

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.staged_article import load_staged
from kb_pipeline.layout import Layout
from kb_pipeline.metering import timed_use
from kb_pipeline.records import ArticleMetadata, ConvertedArticle, ImageInfo, StagedFile
from kb_pipeline.report import Report, Table, preview
from kb_pipeline.staging import INDEX_FILE, METADATA_FILE
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.images import probe_image
from kb_pipeline.storage import read_record, write_bytes

NOT_IMAGES = (
    *(".html", ".htm", ".json", ".css", ".js", ".txt", ".md", ".xml", ".yaml", ".yml"),
    *(".pdf", ".zip", ".gz", ".mp4", ".webm", ".mov", ".mp3", ".docx", ".xlsx", ".pptx", ".woff", ".woff2", ".ttf"),
)
LARGEST_IMAGE = 100_000_000
"""Bytes of an image file beyond which it is not even opened."""


class ConvertedMarkdownLayer(Layer):
    """HTML to markdown, by the analyzer of the settings."""

    name: ClassVar[str] = "converted_markdown"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "The article's main content as markdown, one marker where each image stands."

    def backend(self) -> str:
        return self.workspace.analyzer.converter

    def pool(self) -> str:
        return self.workspace.analyzer.convert_pool

    def is_needed(self, state: ArticleState) -> bool:
        return not state.pinned_version

    def exists(self, state: ArticleState) -> bool:
        return (self.layout.converted(state.article_id) / "conversion.json").is_file()

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        article_id = state.article_id
        staged = load_staged(self.layout, article_id)
        files = {file.name: file for file in staged.files}
        html = self._read(article_id, files[INDEX_FILE])
        images = {file.name: self._probe(article_id, file) for file in staged.files if _may_be_image(file)}
        with timed_use(self.backend()):
            converted = self.workspace.analyzer.convert(article_id, html, images)
        if METADATA_FILE in files:
            converted = _with_metadata(converted, self._read(article_id, files[METADATA_FILE]))
        converted = converted.model_copy(update={"converter": self.backend()})
        data = converted.model_dump_json(indent=1).encode()
        folder = self.layout.converted(article_id)
        write_bytes(folder / "article.md", converted.markdown.encode())
        write_bytes(folder / "conversion.json", data)
        return Made(sha256(data), _report(converted), check_conversion(converted))

    def _read(self, article_id: str, file: StagedFile) -> bytes:
        return self.workspace.staging.read(article_id, file.name, file.sha256)

    def _probe(self, article_id: str, file: StagedFile) -> ImageInfo:
        if file.size > LARGEST_IMAGE:
            problem = f"the file has {file.size:,} bytes, an image may have {LARGEST_IMAGE:,}"
            return ImageInfo(file=file.name, sha256=file.sha256, problem=problem)
        return probe_image(file.name, self._read(article_id, file))


def _may_be_image(file: StagedFile) -> bool:
    return not file.name.lower().endswith(NOT_IMAGES)


def _with_metadata(converted: ConvertedArticle, data: bytes) -> ConvertedArticle:
    """What ``metadata.json`` says wins over the HTML.

    Raises:
        UnreadableArticleError: it is not valid. Its access control list may be what is unreadable, and to
            publish without it would show the article to everybody.
    """
    try:
        values = json.loads(data.decode("utf-8-sig"))
        metadata = ArticleMetadata.model_validate(values)
    except (ValidationError, ValueError) as exc:
        problem = exc.errors()[0] if isinstance(exc, ValidationError) else {"loc": ("the file",), "msg": str(exc)}
        where = ".".join(map(str, problem["loc"])) or "the file"
        raise UnreadableArticleError(
            f"{converted.article_id}: {METADATA_FILE} is not valid: {where}: {problem['msg']}; mend or remove it"
        ) from exc
    known = {name: value for name, value in metadata.model_dump().items() if value}
    unknown = sorted(values.keys() - ArticleMetadata.model_fields.keys())
    warnings = [f"{METADATA_FILE}: {name!r} is no field we know and was ignored" for name in unknown]
    return converted.model_copy(update={**known, "warnings": (*converted.warnings, *warnings)})


def _report(converted: ConvertedArticle) -> Report:
    counts = converted.counts
    return {
        "title": converted.title,
        "markdown": preview(converted.markdown),
        "words": counts.words,
        "headings": counts.headings,
        "tables": counts.tables,
        "code_blocks": counts.code_blocks,
        "links": counts.links,
        "images": len(converted.images),
        "decorative_images": converted.decorative_images,
        "unplaced_images": converted.unplaced_images,
        "warnings": Table(rows=tuple({"warning": warning} for warning in converted.warnings)),
        "converter": converted.converter,
    }


def load_converted(layout: Layout, article_id: str) -> ConvertedArticle:
    """The conversion that :class:`ConvertedMarkdownLayer` wrote."""
    return read_record(layout.converted(article_id) / "conversion.json", ConvertedArticle, ConvertedMarkdownLayer.name)
