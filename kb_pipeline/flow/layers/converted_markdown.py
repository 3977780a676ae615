"""converted_markdown: the article's text as markdown, with a marker for each image and a mark for each page.

Also writes the images that are inside a document, which later layers read like staged ones, and the lines that OCR read
on scanned pages.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from upath import UPath

from kb_pipeline.analyzers.answers import Answers, is_answered, keeping
from kb_pipeline.errors import ArticleError, DamagedLayerError, EmptyArticleError, UnreadableArticleError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run, read_made
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer, load_staged
from kb_pipeline.flow.page_renderer import MOST_BYTES, PageRenderer
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.limited import doing
from kb_pipeline.records import (
    ConvertedArticle,
    DocumentFacts,
    ImageInfo,
    ImageReference,
    LeftOutText,
    PageInfo,
    PageLines,
    Record,
    Report,
    StagedArticle,
    StagedFile,
    Table,
    preview,
)
from kb_pipeline.services.usage import timed_use
from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline.steps.checks import Control, check_conversion, incomplete_pages, read_seen
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.formats import may_be_picture
from kb_pipeline.steps.html import decode
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.steps.metadata import FACTS, METADATA_FILE, read_metadata
from kb_pipeline.steps.serving_contract import MANIFEST_FILE, SERVING, read_serving_article
from kb_pipeline.steps.unread_pages import with_unread_pages
from kb_pipeline.store.files import names_in, parse_record, read_bytes, write_bytes
from kb_pipeline.store.kept import DurableRecord
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, LayerState

_CONVERSION, _TEXT, _IMAGES, _LINES = "conversion.json", "article.md", "images/", "ocr-lines.json"
_PREVIEWED = "conversion-"
_TEXT_HASH = "text"
"""The input that stands for the staged article where its author says something of pictures besides."""

LARGEST_IMAGE = 100_000_000
"""Larger image files, in bytes, are not opened."""


class ConvertedMarkdownLayer(Layer):
    """Converts a page or a document to markdown with the analyzer that the settings name."""

    name: ClassVar[str] = "converted_markdown"
    upstream: ClassVar[tuple[str, ...]] = ("staged_article",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = (
        "The article's main content as markdown. A marker `[[IMG:file]]` stands where each image stood; "
        "navigation, banners and other furniture of the page are gone."
    )

    def backend(self) -> str:
        return self.workspace.converter

    def pool(self) -> str:
        return "" if self.workspace.staging.made_elsewhere else self.workspace.analyzer.convert_pool

    def is_needed(self, state: ArticleState) -> bool:
        return not state.pinned_version

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        folder = self.layout.converted(state.article_id)
        made = state.layers.get(self.name)
        others = [name for name in made.files if name.startswith(_IMAGES) or name == _LINES] if made else []
        return {name: folder / name for name in (_CONVERSION, _TEXT, *others)}

    def made_from(self, inputs: Mapping[str, str]) -> str:
        return super().made_from(_of_text(inputs))

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        inputs = super().inputs(state, run)
        if text_hash := state.layers[StagedArticleLayer.name].text_hash:
            inputs[_TEXT_HASH] = text_hash
        file_format = state.layers[StagedArticleLayer.name].format
        if file_format == "html" and self.workspace.renderer:
            return {**inputs, "render": self.workspace.settings.render}
        if not file_format or file_format == SERVING:  # the backend has the version of what reads serving articles
            return inputs
        reader = self.workspace.analyzer.readers.get(file_format)
        source = source_of(file_format)
        if source.names_people and self.workspace.settings.mask_addresses:
            inputs["addresses"] = "masked"
        if source.is_transcribed:
            inputs["transcription"] = self.workspace.settings.transcription_model or ""
        return {**inputs, "source": source.version, **({"reader": reader} if reader else {})}

    def report(self, state: ArticleState) -> Report:
        return _report(load_converted(self.layout, state.article_id))

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        article_id = state.article_id
        staged = load_staged(self.layout, article_id, state.layers.get(StagedArticleLayer.name))
        files = {file.name: file for file in staged.files}
        self._check_size(article_id, files[staged.main])
        if self.workspace.staging.made_elsewhere:
            return self._take_over(article_id, self._read(article_id, files[staged.main]), files)
        main, document, images = self._source(staged)
        doing(f"converting {staged.main}")
        made_from = self._paid_for(inputs)
        try:
            converted = self._convert(article_id, partial(self._analyzed, staged, main, document, images), made_from)
        except EmptyArticleError:
            if document or not self.workspace.renderer or b"<script" not in main.lower():
                raise
            main = self._rendered(staged, main, self.workspace.renderer)
            doing(f"converting {staged.main}")
            converted = self._convert(article_id, partial(self._analyzed, staged, main, document, images), made_from)
        facts = converted.facts or (document.facts if document else None)
        if METADATA_FILE in files:
            # invalid metadata fails the article: without its access control list everybody could read it
            metadata, warnings = read_metadata(self._read(article_id, files[METADATA_FILE]))
            values = {name: value for name, value in metadata.model_dump(exclude={"main"}).items() if value}
            if stated := {name: values.pop(name) for name in FACTS if name in values}:
                facts = (facts or DocumentFacts()).model_copy(update=stated)
            converted = converted.model_copy(update={**values, "warnings": (*converted.warnings, *warnings)})
        by = f"{source_of(format_of(staged.main)).version}, {self.backend()}" if document else self.backend()
        lines = PageLines(pages=dict(document.lines)).model_dump_json().encode() if document and document.lines else b""
        made = {"converter": by, "facts": facts, "ocr_lines": sha256(lines) if lines else ""}
        converted = converted.model_copy(update=made)
        control = _control(document)
        if len(converted.pages) > self.workspace.settings.unread_pages_above:
            converted = with_unread_pages(converted, incomplete_pages(converted, control))
        # article.md is for people to read; the next layers read conversion.json
        contents = {_TEXT: converted.markdown.encode(), _CONVERSION: converted.model_dump_json(indent=1).encode()}
        if document:
            contents |= {
                inside_name(image.file): document.images[image.file]
                for image in converted.images
                if image.file in document.images
            }
        if lines:
            contents[_LINES] = lines
        for name, data in contents.items():
            write_bytes(self.layout.converted(article_id) / name, data)
        hashes = {name: sha256(data) for name, data in contents.items()}
        seen = None if document else read_seen(decode(article_id, main), images)
        checks = check_conversion(converted, control, seen)
        return LayerOutput(hashes[_CONVERSION], _report(converted), checks, hashes)

    def _source(self, staged: StagedArticle) -> tuple[bytes, SourceDocument | None, dict[str, ImageInfo]]:
        """Read the main file of an article, what its source reads of it, and the headers of all images."""
        article_id, files = staged.article_id, {file.name: file for file in staged.files}
        main = self._read(article_id, files[staged.main])
        may_be_images = [file for file in staged.files if may_be_picture(file.name)]
        images = {file.name: self._probe(article_id, file) for file in may_be_images}
        file_format = format_of(staged.main)
        if file_format == "html":
            return main, None, images
        doing(f"reading {staged.main}")
        by_service = file_format in self.workspace.analyzer.readers
        source = self.workspace.source_of(article_id, file_format, by_ocr=not by_service)
        document = source.read(article_id, staged.main, main)
        images |= {name: self.workspace.images.probe(name, data) for name, data in document.images.items()}
        return main, document, images

    def _take_over(self, article_id: str, main: bytes, files: Mapping[str, StagedFile]) -> LayerOutput:
        """Take an article as another program made it. The originals that it may hold besides are not read."""
        images = {name: self._probe(article_id, file) for name, file in files.items() if name.startswith(_IMAGES)}
        manifest = self._read(article_id, files[MANIFEST_FILE]) if MANIFEST_FILE in files else None
        converted = read_serving_article(article_id, main, manifest, images)
        contents = {_TEXT: converted.markdown.encode(), _CONVERSION: converted.model_dump_json(indent=1).encode()}
        for name, data in contents.items():
            write_bytes(self.layout.converted(article_id) / name, data)
        hashes = {name: sha256(data) for name, data in contents.items()}
        return LayerOutput(hashes[_CONVERSION], _report(converted), check_conversion(converted), hashes)

    def _rendered(self, staged: StagedArticle, main: bytes, renderer: PageRenderer) -> bytes:
        """The page as its scripts make it, with the files of its folder."""
        doing(f"drawing {staged.main}")
        others = [file for file in staged.files if file.name != staged.main]
        if sum(file.size for file in others) > MOST_BYTES:
            raise ArticleError(
                f"{staged.article_id}: its files have more than {MOST_BYTES:,} bytes, too many to draw it"
            )
        files = {file.name: self._read(staged.article_id, file) for file in others}
        return renderer.render(staged.article_id, decode(staged.article_id, main), files).encode()

    def _analyzed(
        self,
        staged: StagedArticle,
        main: bytes,
        document: SourceDocument | None,
        images: Mapping[str, ImageInfo],
    ) -> ConvertedArticle:
        analyzer = self.workspace.analyzer
        if document is None:
            return analyzer.convert(staged.article_id, main, images)
        converted = analyzer.convert_document(staged.article_id, staged.main, main, document, images)
        title, warnings = document.title or converted.title, (*converted.warnings, *document.warnings)
        made = {"title": title, "warnings": warnings, "pages": document.pages, "facts": document.facts}
        return converted.model_copy(update=made)

    def _convert(self, article_id: str, convert: Callable[[], ConvertedArticle], made_from: str) -> ConvertedArticle:
        """Convert the article. What a paid service answered is kept, so that no source is ever paid for twice.

        ``made_from`` leaves out the version of this layer, which is raised for a new check as well. A better restorer
        makes the article anew from the same answers.
        """
        if not self.pool():
            with timed_use(self.backend()):
                return convert()
        paid = self._paid(article_id, made_from)
        if not paid:
            with timed_use(self.backend()), keeping(self._answers(article_id)) as answers:
                converted = convert()
            paid = PaidConversion(
                made_from=made_from, converted=converted, answers=answers, left_out=converted.left_out
            )
        kept = kept_conversion(self.layout, article_id)
        if kept.read().value != paid:
            kept.write(paid.model_dump_json().encode(), durable=True)
            previewed_conversion(self.layout, article_id, made_from).remove()
        return paid.converted.model_copy(update={"left_out": paid.left_out})

    def is_paid(self, article_id: str, inputs: Mapping[str, str]) -> bool:
        """Whether a service was paid already for the conversion of these inputs, for the article or a preview."""
        if not self.pool():
            return False
        if self._paid(article_id, self._paid_for(inputs)) is not None:
            return True
        answers = self._answers(article_id)
        if not inputs or not answers:  # without inputs nobody knows what would be sent
            return False
        staged = load_staged(self.layout, article_id)
        return is_answered(answers, partial(self._analyzed, staged, *self._source(staged)))

    def _paid_for(self, inputs: Mapping[str, str]) -> str:
        return fingerprint(self.backend(), _of_text(inputs))

    def _answers(self, article_id: str) -> Answers:
        """All that services answered for the article and was kept, for a run or a preview."""
        folder = self.layout.previewed(article_id)
        names = (name for name in names_in(folder) if name.startswith(_PREVIEWED) and name.endswith(".json"))
        previewed = (name.removeprefix(_PREVIEWED).removesuffix(".json") for name in sorted(names))
        kept = (previewed_conversion(self.layout, article_id, made_from) for made_from in previewed)
        conversions = (one.read().value for one in (*kept, kept_conversion(self.layout, article_id)))
        return {key: texts for paid in conversions if paid for key, texts in paid.answers.items()}

    def _paid(self, article_id: str, made_from: str) -> "PaidConversion | None":
        kept = kept_conversion(self.layout, article_id), previewed_conversion(self.layout, article_id, made_from)
        values = (one.read().value for one in kept)
        return next((paid for paid in values if paid and paid.made_from == made_from), None)

    def _check_size(self, article_id: str, main: StagedFile) -> None:
        """Check that the article's main file fits into memory, before it is read."""
        most = self.workspace.settings.document_bytes
        if main.size > most:
            raise UnreadableArticleError(
                f"{article_id}: {main.name} has {main.size:,} bytes, at most {most:,} are read; split it, or raise "
                "KB_DOCUMENT_BYTES"
            )

    def _read(self, article_id: str, file: StagedFile) -> bytes:
        return self.workspace.staging.read(article_id, file.name, file.sha256)

    def _probe(self, article_id: str, file: StagedFile) -> ImageInfo:
        if file.size > LARGEST_IMAGE:
            problem = f"the file has {file.size:,} bytes, an image may have {LARGEST_IMAGE:,}"
            return ImageInfo(file=file.name, sha256=file.sha256, problem=problem)
        doing(f"reading {file.name}")
        return self.workspace.images.probe(file.name, self._read(article_id, file))


def _control(document: SourceDocument | None) -> Control:
    if document is None:
        return Control()
    return Control(document.control, document.left_out, document.outline, document.beside_text)


def _of_text(inputs: Mapping[str, str]) -> dict[str, str]:
    """The inputs as far as the text depends on them. The others tell Dagster what is upstream."""
    others = {name: value for name, value in inputs.items() if name != _TEXT_HASH}
    return {**others, StagedArticleLayer.name: inputs[_TEXT_HASH]} if _TEXT_HASH in inputs else others


def inside_name(file: str) -> str:
    """The name of the file, below the article's converted files, of an image that is inside a document."""
    return _IMAGES + file.rpartition("/")[2]


def read_image(workspace: Workspace, article_id: str, image: ImageReference) -> bytes:
    """Read an image of the article: a staged file, or one that was inside its document.

    Raises:
        StorageError: it cannot be read, or has changed since the conversion.
    """
    folder, inside, _ = image.file.partition("/")
    if not inside or format_of(folder) == "html":
        return workspace.staging.read(article_id, image.file, image.sha256)
    path = workspace.layout.converted(article_id) / inside_name(image.file)
    data = read_bytes(path)
    if sha256(data) != image.sha256:
        raise DamagedLayerError(ConvertedMarkdownLayer.name, path)
    return data


class PaidConversion(Record):
    """A conversion by a paid service; ``made_from`` is the fingerprint of its inputs.

    ``answers`` are the texts of the service as they came; earlier releases did not keep them.
    """

    made_from: str
    converted: ConvertedArticle
    answers: Mapping[str, tuple[str, ...]] = {}
    left_out: tuple[LeftOutText, ...] = ()


def kept_conversion(layout: Layout, article_id: str) -> DurableRecord[PaidConversion]:
    """The newest conversion of the article by a paid service."""
    path = layout.conversion(article_id)
    return DurableRecord(layout.home, str(path.relative_to(layout.home)), PaidConversion.model_validate_json)


def previewed_conversion(layout: Layout, article_id: str, made_from: str) -> DurableRecord[PaidConversion]:
    """A conversion by a paid service that a preview made; a run that needs it takes it over."""
    path = layout.previewed(article_id) / f"{_PREVIEWED}{made_from}.json"
    return DurableRecord(layout.home, str(path.relative_to(layout.home)), PaidConversion.model_validate_json)


def pages_report(pages: Sequence[PageInfo]) -> Report:
    """How many pages a document has, and how they were read; empty if it has none."""
    if not pages:
        return {}
    read = Counter(page.read_by for page in pages)
    return {"pages": len(pages), "pages_read_by": ", ".join(f"{kind}: {count:,}" for kind, count in read.items())}


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
        **pages_report(converted.pages),
        "warnings": Table(rows=tuple({"warning": warning} for warning in converted.warnings)),
        "converter": converted.converter,
    }


def load_converted(layout: Layout, article_id: str, made: LayerState | None = None) -> ConvertedArticle:
    """Load the conversion that :class:`ConvertedMarkdownLayer` wrote; ``made`` is the state to check it against.

    Raises:
        DamagedLayerError: it is not as it was written.
    """
    path, layer = layout.converted(article_id) / _CONVERSION, ConvertedMarkdownLayer.name
    return parse_record(path, read_made(path, layer, made, _CONVERSION), ConvertedArticle, layer)


def load_ocr_lines(layout: Layout, article_id: str, made: LayerState | None = None) -> bytes:
    """Load the :class:`PageLines` of an article that has some, as JSON; ``made`` is the state to check them against.

    Raises:
        DamagedLayerError: they are not as they were written.
    """
    return read_made(layout.converted(article_id) / _LINES, ConvertedMarkdownLayer.name, made, _LINES)
