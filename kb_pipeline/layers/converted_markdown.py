"""converted_markdown: the article's text as markdown, an ``[[IMG:<file>]]`` marker for each image."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from pydantic import ValidationError

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.staged_article import load_staged
from kb_pipeline.layout import Layout
from kb_pipeline.records import ArticleMetadata, ConvertedArticle, ImageInfo, StagedArticle
from kb_pipeline.report import Report, Table, preview
from kb_pipeline.staging import INDEX_FILE, METADATA_FILE
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.images import probe_image
from kb_pipeline.storage import read_bytes, write_bytes

NOT_IMAGES = (".html", ".htm", ".json", ".css", ".js", ".txt", ".md", ".xml", ".yaml", ".yml")


class ConvertedMarkdownLayer(Layer):
    """HTML to markdown, by the analyzer of the settings."""

    name: ClassVar[str] = "converted_markdown"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "The article's main content as markdown, one marker where each image stands."

    def backend(self) -> str:
        return self.workspace.analyzer.converter

    def exists(self, article_id: str) -> bool:
        return (self.layout.converted(article_id) / "conversion.json").is_file()

    def make(self, article_id: str, inputs: Mapping[str, str], run: Run) -> Made:
        staged = load_staged(self.layout, article_id)
        html = self.workspace.staging.read(article_id, INDEX_FILE)
        converted = self.workspace.analyzer.convert(article_id, html, {i.file: i for i in self._images(staged)})
        converted = _with_metadata(converted, self._metadata(staged))
        data = converted.model_dump_json(indent=1).encode()
        folder = self.layout.converted(article_id)
        write_bytes(folder / "article.md", converted.markdown.encode())
        write_bytes(folder / "conversion.json", data)
        return Made(sha256(data), _report(converted))

    def _images(self, staged: StagedArticle) -> Iterator[ImageInfo]:
        for file in staged.files:
            if not file.name.lower().endswith(NOT_IMAGES):
                yield probe_image(file.name, self.workspace.staging.read(staged.article_id, file.name))

    def _metadata(self, staged: StagedArticle) -> ArticleMetadata:
        if not any(file.name == METADATA_FILE for file in staged.files):
            return ArticleMetadata()
        try:
            return ArticleMetadata.model_validate_json(self.workspace.staging.read(staged.article_id, METADATA_FILE))
        except ValidationError as exc:
            # its access control list may be what is unreadable: publishing without it would show too much
            problem = exc.errors()[0]
            where = ".".join(map(str, problem["loc"])) or "the file"
            raise UnreadableArticleError(
                f"{staged.article_id}: {METADATA_FILE} is not valid: {where}: {problem['msg']}; mend or remove it"
            ) from exc


def _with_metadata(converted: ConvertedArticle, metadata: ArticleMetadata) -> ConvertedArticle:
    return converted.model_copy(
        update={
            "title": metadata.title or converted.title,
            "source_url": metadata.source_url or converted.source_url,
            "language": metadata.language or converted.language,
            "key_topics": metadata.key_topics or converted.key_topics,
            "access_control_list": metadata.access_control_list,
        }
    )


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
    return ConvertedArticle.model_validate_json(read_bytes(layout.converted(article_id) / "conversion.json"))
