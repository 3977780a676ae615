"""The settings, opened: staging, layout and the chosen backends, each made on first use.

A worker process opens its own from the same settings; only the settings travel.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache

from upath import UPath

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.layout import Layout
from kb_pipeline.models import open_embedder
from kb_pipeline.models.base import Embedder
from kb_pipeline.search import open_index
from kb_pipeline.search.base import SearchIndex
from kb_pipeline.settings import Settings
from kb_pipeline.staging import Staging
from kb_pipeline.steps.article_links import name_index


class Workspace:
    """What every layer needs to do its work."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.layout = Layout.of(settings)
        self.staging = Staging(UPath(settings.staging))
        self._link_index: tuple[str, Mapping[str, str | None]] | None = None

    @cached_property
    def analyzer(self) -> Analyzer:
        """Turns HTML into markdown and images into descriptions."""
        return open_analyzer(self.settings.analyzer)

    @cached_property
    def embedder(self) -> Embedder:
        """Turns text into vectors."""
        return open_embedder(self.settings.embedder, cache_dir=self.settings.home_path / "models")

    @cached_property
    def index(self) -> SearchIndex:
        """The search index that these settings publish to and read from."""
        return open_index(
            self.settings.index,
            self.settings.index_uri or str(self.layout.home / "index"),
            embedding_model=self.embedder.model_id,
            dimensions=self.embedder.dimensions,
        )

    def link_index(self, run_id: str) -> Mapping[str, str | None]:
        """Names by which the staged articles link each other, listed once for each run."""
        if self._link_index is None or self._link_index[0] != run_id:
            self._link_index = (run_id, name_index(self.staging.list_articles().article_ids))
        return self._link_index[1]


@lru_cache(maxsize=4)
def open_workspace(settings: Settings) -> Workspace:
    """The workspace of these settings, kept warm within a process."""
    return Workspace(settings)
