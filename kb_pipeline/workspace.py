"""The settings, opened: staging, layout and the chosen backends, each made on first use.

A worker process opens its own from the same settings; only the settings travel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.blob import check_apart, remote_path
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.layout import Layout
from kb_pipeline.locks import Locks
from kb_pipeline.models import open_embedder
from kb_pipeline.models.base import Embedder
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.search import open_catalog
from kb_pipeline.search.base import SearchFilter, SearchIndex, readable
from kb_pipeline.search.catalog import Generation, IndexCatalog
from kb_pipeline.search.folding import SPARE, folded
from kb_pipeline.settings import Settings
from kb_pipeline.staging import Staging
from kb_pipeline.steps.article_links import name_index
from kb_pipeline.steps.chunk import CHUNKER_VERSION
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.late_interaction import PACKING


@dataclass(frozen=True)
class Reader:
    """A live generation of the index, and the embedder for questions to it."""

    generation: Generation
    index: SearchIndex
    embedder: Embedder

    def search(
        self, question: str, *, top: int = 10, mode: SearchMode = "hybrid", filters: SearchFilter | None = None
    ) -> list[SearchHit]:
        """The ``top`` best chunks for a question, best first; of passages that say the same only the best.

        The question is embedded where the mode needs that and the index does not do it itself.

        Raises:
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        # what is embedded before the index is asked fails before the index is asked
        unembedded = mode == "keyword" or self.index.embeds_questions
        asked = None if unembedded else self.embedder.embed_question(readable(question))
        hits = self.index.search(
            question,
            asked.vector if asked else None,
            word_vectors=asked.words if asked else None,
            mode=mode,
            top=top + SPARE,
            filters=filters,
        )
        return folded(hits)[:top]


class Workspace:
    """What every layer needs to do its work."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.layout = Layout.of(settings)
        self.staging = Staging(remote_path(settings.staging, "staging", settings))
        check_apart(self.staging.root, self.layout.serving_root)
        self._reader: Reader | None = None
        self._link_index: tuple[str, Mapping[str, str | None]] | None = None

    @cached_property
    def analyzer(self) -> Analyzer:
        """Turns HTML into markdown and images into descriptions."""
        return open_analyzer(self.settings)

    @cached_property
    def embedder(self) -> Embedder:
        """Turns text into vectors."""
        return open_embedder(self.settings)

    @cached_property
    def locks(self) -> Locks:
        """One builder of an article at a time."""
        return Locks(self.settings.home_path / "locks")

    @cached_property
    def image_locks(self) -> Locks:
        """One describer of an image at a time; whoever waits for one may hold an article's lock."""
        return Locks(self.settings.home_path / "locks" / "images")

    @cached_property
    def chunk_limits(self) -> tuple[int, int]:
        """Least and most tokens of a chunk; what is beyond the embedder's window it would silently not see."""
        most = min(self.settings.chunk_max_tokens, self.embedder.max_tokens)
        return min(self.settings.chunk_min_tokens, most), most

    @cached_property
    def generation(self) -> Generation:
        """The generation of the index that these settings make: another model or chunking makes another one."""
        chunker = f"{CHUNKER_VERSION}/{self.chunk_limits[0]}-{self.chunk_limits[1]}"
        words = PACKING if self.embedder.word_vectors and self.catalog.keeps_word_vectors else ""
        made_from = (self.settings.embedder, self.embedder.model_id, self.embedder.dimensions, chunker)
        return Generation(
            id=fingerprint(*made_from, *filter(None, [words]))[:12],
            embedder=self.settings.embedder,
            embedding_model=self.embedder.model_id,
            dimensions=self.embedder.dimensions,
            chunker=chunker,
            word_vectors=words,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    @cached_property
    def catalog(self) -> IndexCatalog:
        """All generations of the index, and the one that readers use."""
        return open_catalog(self.settings)

    @cached_property
    def index(self) -> SearchIndex:
        """The generation that these settings publish to; readers may still use another one."""
        return self.catalog.open(self.generation)

    def reader(self) -> Reader:
        """What readers search now: the live generation, with the embedder it was made with.

        Raises:
            IndexMissingError: nothing was ever published.
        """
        live = self.catalog.live()
        if live is None:
            raise IndexMissingError("there is no search index yet; run: kb ingest")
        if self._reader is None or self._reader.generation.id != live.generation.id:
            embedder = open_embedder(self.settings, live.generation.embedder)
            self._reader = Reader(live.generation, self.catalog.open(live.generation), embedder)
        return self._reader

    def link_index(self, run_id: str) -> Mapping[str, str | None]:
        """Names by which the staged articles link each other, listed once for each run."""
        if self._link_index is None or self._link_index[0] != run_id:
            self._link_index = (run_id, name_index(self.staging.list_articles().article_ids))
        return self._link_index[1]


@lru_cache(maxsize=4)
def open_workspace(settings: Settings) -> Workspace:
    """The workspace of these settings, kept warm within a process."""
    return Workspace(settings)
