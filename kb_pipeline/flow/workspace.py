"""The workspace: everything that the settings name, opened on first use (staging, layout, backends).

A worker process opens a workspace of its own; only the settings are sent to it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.errors import IndexMissingError, IndexNotThereError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.image_reader import ImageReader
from kb_pipeline.flow.page_reader import PageReader
from kb_pipeline.flow.page_renderer import PageRenderer
from kb_pipeline.flow.transcripts import Transcripts
from kb_pipeline.models import open_embedder
from kb_pipeline.models.base import Embedder
from kb_pipeline.network.versions import articles_folders
from kb_pipeline.records import Chunk, KnowledgeMode, SearchHit, SearchMode
from kb_pipeline.search import open_catalog
from kb_pipeline.search.base import SPARE, SearchFilter, SearchIndex, of_mode, readable, without_repeats
from kb_pipeline.search.catalog import Generation, IndexCatalog
from kb_pipeline.services.urls import base_url
from kb_pipeline.settings import Settings
from kb_pipeline.sources import DocumentLimits, Source, SourceTools, source_of, use_sources
from kb_pipeline.steps.article_links import name_index
from kb_pipeline.steps.chunk import CHUNKER_VERSION, Titles, is_deferred, titles_of
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline.steps.serving_contract import MADE_ELSEWHERE, READER_VERSION
from kb_pipeline.store.audit import AuditLog
from kb_pipeline.store.home import make_private
from kb_pipeline.store.joined_staging import JoinedStaging
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.locks import Locks
from kb_pipeline.store.place import check_apart, remote_path
from kb_pipeline.store.staged_serving import StagedServing
from kb_pipeline.store.staging import Staging


class ImageModel(NamedTuple):
    """The name of what describes images, and the version of its prompt."""

    name: str
    prompt_version: str


@dataclass(frozen=True)
class Reader:
    """Searches one generation of the index, with the embedder that it was made with.

    ``deferring`` are the titles of sections that are left for later; ``mode`` says whether a search without a filter
    finds them.
    """

    generation: Generation
    index: SearchIndex
    embedder: Embedder
    deferring: Titles = frozenset()
    mode: KnowledgeMode = "all"

    def search(
        self, question: str, *, top: int = 10, mode: SearchMode = "hybrid", filters: SearchFilter | None = None
    ) -> list[SearchHit]:
        """Find the ``top`` best chunks for a question, best first; of passages that say the same only the best.

        Only sections are searched, unless the filter names kinds of rows.

        The question is embedded here, unless the mode needs no vector or the index embeds questions itself.

        Raises:
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        filters = filters or SearchFilter(deferred=of_mode(self.mode))
        if filters.block_type is None:
            filters = filters.model_copy(update={"block_type": ("text",)})
        needs_vector = mode != "keyword" and not self.index.embeds_questions
        embedded = self.embedder.embed_question(readable(question)) if needs_vector else None
        hits = self.index.search(
            question,
            embedded.vector if embedded else None,
            word_vectors=embedded.words if embedded else None,
            telling=embedded.telling if embedded else (),
            mode=mode,
            top=top + SPARE,
            filters=filters,
        )
        if filters.deferred is False:
            # Until an article is made again, its rows do not know of a title that became one of these.
            hits = [hit for hit in hits if not self.is_deferred(hit.chunk)]
        best = without_repeats(hits)[:top]
        return [hit.model_copy(update={"generation": self.generation.id}) for hit in best]

    def is_deferred(self, chunk: Chunk) -> bool:
        """Whether a chunk is of a section that is left for later."""
        return chunk.deferred or is_deferred(chunk.heading_path, self.deferring)


class Workspace:
    """Everything that a layer needs to do its work. Backends are opened when they are first used.

    Raises:
        SettingsError: a folder cannot be used, or the staging and serving folders are inside one another.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        with suppress(OSError):  # a process that only reads needs no home folder; one that writes gets the error then
            make_private(settings.home_path)
        self.layout = Layout.of(settings)
        use_sources(settings.sources)
        authors = remote_path(settings.staging, "staging", settings)
        # articles of scenarios are pages, so they have no place beside serving articles
        self.staging: Staging = (
            StagedServing(authors)
            if settings.staging_holds == "serving"
            else JoinedStaging(authors, partial(articles_folders, settings.home_path))
        )
        check_apart(self.staging.root, self.layout.serving_root)
        self._reader: Reader | None = None
        self._link_index: tuple[str, Mapping[str, str | None]] | None = None

    @cached_property
    def audit(self) -> AuditLog:
        """Records who does what."""
        return AuditLog(self.settings)

    @cached_property
    def analyzer(self) -> Analyzer:
        """Converts HTML to markdown, and describes images."""
        return open_analyzer(self.settings)

    @property
    def converter(self) -> str:
        """Who converts articles to markdown: the analyzer, unless they were made elsewhere."""
        return f"{MADE_ELSEWHERE} {READER_VERSION}" if self.staging.made_elsewhere else self.analyzer.converter

    @property
    def describer(self) -> ImageModel:
        """Who describes images: the analyzer, unless the descriptions come with the articles."""
        if self.staging.made_elsewhere:
            return ImageModel(MADE_ELSEWHERE, "none")
        return ImageModel(self.analyzer.image_model, self.analyzer.prompt_version)

    @cached_property
    def embedder(self) -> Embedder:
        """Embeds passages and questions."""
        return open_embedder(self.settings)

    @cached_property
    def images(self) -> ImageReader:
        """Decodes staged images, within limits."""
        return ImageReader(self.settings.image_seconds, self.settings.image_memory_mb)

    @cached_property
    def page_reader(self) -> PageReader:
        """Reads the text on pictures of pages, each picture once."""
        return PageReader(self.layout, self.image_locks)

    @cached_property
    def transcripts(self) -> Transcripts | None:
        """Knows what is said in recordings, if the settings name a model for that."""
        settings = self.settings
        return Transcripts(settings, self.layout, self.image_locks) if settings.transcription_model else None

    @cached_property
    def renderer(self) -> PageRenderer | None:
        """Draws pages that hold nothing but scripts, if the settings want it."""
        return PageRenderer() if self.settings.render == "chromium" else None

    def source_of(self, article_id: str, file_format: str, *, by_ocr: bool = True) -> Source:
        """The source that reads the documents of a format, with what it needs for this article.

        Without ``by_ocr``, pages that need OCR are only counted, and recordings that nobody transcribed are silent.
        """
        settings = self.settings
        limits = DocumentLimits(
            settings.document_seconds,
            settings.document_memory_mb,
            settings.document_bytes,
            settings.document_pages,
            settings.ocr_pages,
        )
        tools = SourceTools(
            limits,
            settings.document_password(article_id),
            self.page_reader.read if by_ocr else None,
            settings.mask_addresses,
            (self.transcripts.read if by_ocr else self.transcripts.known) if self.transcripts else None,
        )
        return source_of(file_format).equipped(tools)

    @cached_property
    def deferred_titles(self) -> Titles:
        """The titles of the sections that are left for later."""
        return titles_of(self.settings.deferred_sections)

    @cached_property
    def locks(self) -> Locks:
        """Locks on articles: one process at a time builds or publishes an article."""
        return Locks(self.settings.home_path / "locks")

    @cached_property
    def access(self) -> AccessLists:
        """The newest access lists of all articles."""
        return AccessLists(self.layout)

    @cached_property
    def access_locks(self) -> Locks:
        """Locks on the access lists of articles. They are held briefly, also while the article's own lock is held."""
        return Locks(self.settings.home_path / "locks" / "access")

    @cached_property
    def image_locks(self) -> Locks:
        """Locks on images: one process at a time describes an image. May be taken while holding an article's lock."""
        return Locks(self.settings.home_path / "locks" / "images")

    @cached_property
    def chunk_limits(self) -> tuple[int, int]:
        """Minimum and maximum tokens of a chunk.

        An index that keeps one vector of a chunk limits it to the embedder's window, beyond which text is ignored.
        """
        most = self.settings.chunk_max_tokens
        if not self.catalog.keeps_passages:
            most = min(most, self.embedder.max_tokens)
        return min(self.settings.chunk_min_tokens, most), most

    @cached_property
    def generation(self) -> Generation:
        """The generation of the index that these settings make; another model or other chunking makes another one."""
        chunker = f"{CHUNKER_VERSION}/{self.chunk_limits[0]}-{self.chunk_limits[1]}"
        words = PACKING if self.embedder.word_vectors and self.catalog.keeps_word_vectors else ""
        images = self.settings.search_image_url if self.catalog.keeps_addresses else None
        image_url = base_url("KB_SEARCH_IMAGE_URL", images) if images else ""
        made_from = (self.settings.embedder, self.embedder.model_id, self.embedder.dimensions, chunker)
        return Generation(
            id=fingerprint(*made_from, *filter(None, [words, image_url]))[:12],
            embedder=self.settings.embedder,
            embedding_model=self.embedder.model_id,
            dimensions=self.embedder.dimensions,
            chunker=chunker,
            word_vectors=words,
            image_url=image_url,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    @cached_property
    def catalog(self) -> IndexCatalog:
        """All generations of the index, and which of them readers use."""
        return open_catalog(self.settings)

    @cached_property
    def index(self) -> SearchIndex:
        """The index of :attr:`generation`, which articles are published to; readers may still use another one."""
        return self.catalog.open(self.generation)

    def reader(self) -> Reader:
        """The reader of the live generation.

        Raises:
            IndexMissingError: nothing was published yet.
            IndexNotThereError: nothing was published where KB_INDEX_URI says.
        """
        live = self.catalog.live()
        if live is None:
            raise self.no_index()
        if self._reader is None or self._reader.generation.id != live.generation.id:
            embedder = open_embedder(self.settings, live.generation.embedder)
            index = self.catalog.open(live.generation)
            self._reader = Reader(live.generation, index, embedder, self.deferred_titles, self.settings.mode)
        return self._reader

    def no_index(self) -> IndexMissingError:
        """Make the error for an index that was never filled, or that is not where KB_INDEX_URI says."""
        if self.settings.index == "lancedb" and (place := self.settings.index_uri):
            return IndexNotThereError(
                f"there is no search index at {place}; check KB_INDEX_URI; kb ingest fills it, if it is yours"
            )
        return IndexMissingError("there is no search index yet; run: kb ingest")

    def link_index(self, run_id: str) -> Mapping[str, str | None]:
        """Article ids by the names that links use for them; the staging folder is listed once for each run."""
        if self._link_index is None or self._link_index[0] != run_id:
            self._link_index = (run_id, name_index(self.staging.list_articles().article_ids))
        return self._link_index[1]


@lru_cache(maxsize=4)
def open_workspace(settings: Settings) -> Workspace:
    """The workspace of these settings, cached for the life of the process so that its models stay loaded."""
    return Workspace(settings)
