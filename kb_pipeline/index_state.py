"""The index as it is, against the index as it should be. The live index is asked, never a marker."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kb_pipeline.layers.chunks import hashes_hash
from kb_pipeline.layout import Layout
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.storage import names_in
from kb_pipeline.workspace import Workspace

_NOTHING = hashes_hash({})
"""An article may have no chunk at all."""
_SERVED = {"article.md", "images", "manifest.json"}
"""What lies in the folder of a serving article."""


@dataclass(frozen=True)
class IndexState:
    """Counts of the index that these settings make, and the articles that are not as they should be.

    ``missing``: published, not indexed. ``stale``: indexed with other chunks than were published. ``unserved``:
    published, without its serving files. ``orphaned``: indexed or served, and known to nobody. ``unstaged``: published,
    and gone from staging. ``pending``: published, but not yet in this generation of the index.
    """

    articles: int
    entries: int
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    unserved: tuple[str, ...]
    orphaned: tuple[str, ...]
    unstaged: tuple[str, ...]
    pending: tuple[str, ...]
    doubled_entries: int
    generation: str
    live_generation: str

    @property
    def is_good(self) -> bool:
        """Whether readers find exactly what was published."""
        wrong = self.missing or self.stale or self.unserved or self.orphaned or self.unstaged
        return not (wrong or self.pending or self.doubled_entries or (self.articles and not self.live_generation))

    @property
    def is_complete(self) -> bool:
        """Whether this generation can take over: it holds every published article as it was published."""
        return not (self.missing or self.stale or self.pending or self.doubled_entries)

    def summary(self) -> dict[str, int | str | bool]:
        """Numbers, and the first names of each kind."""
        named = {
            "missing": self.missing,
            "stale": self.stale,
            "unserved": self.unserved,
            "orphaned": self.orphaned,
            "unstaged": self.unstaged,
            "pending": self.pending,
        }
        counts = {name: len(ids) for name, ids in named.items()}
        examples = {f"{name}_articles": ", ".join(ids[:20]) for name, ids in named.items() if ids}
        return {
            "articles": self.articles,
            "entries": self.entries,
            **counts,
            "doubled_entries": self.doubled_entries,
            "good": self.is_good,
            "generation": self.generation,
            "live_generation": self.live_generation,
            **examples,
        }


def compare_index(workspace: Workspace, states: Iterable[ArticleState], staged: Collection[str]) -> IndexState:
    """Compare the live index and the serving folder with every article that was published."""
    entries = workspace.index.entries()
    count = workspace.index.count()
    served = names_in(workspace.layout.serving_root)
    known = {state.article_id: state for state in states}
    here = workspace.generation.id
    wanted = {key: published_hash(state) for key, state in known.items() if _generation(state) == here}
    live = {key: hashes_hash(hashes) for key, hashes in entries.items()}
    published = {key for key, state in known.items() if state.published}
    pointer = workspace.catalog.live()
    return IndexState(
        articles=len(live),
        entries=count,
        missing=_sorted(key for key in wanted.keys() - live.keys() if wanted[key] != _NOTHING),
        stale=_sorted(key for key in wanted.keys() & live.keys() if wanted[key] != live[key]),
        unserved=_sorted(published - served),
        orphaned=_sorted((live.keys() - published) | served_articles(workspace.layout, served - published)),
        unstaged=_sorted(published - set(staged)),
        pending=_sorted(published - wanted.keys()),
        doubled_entries=count - sum(map(len, entries.values())),
        generation=here,
        live_generation=pointer.generation.id if pointer else "",
    )


def published_hash(state: ArticleState) -> str:
    """Hash of the chunks that were published last."""
    layer = state.layers.get("search_index")
    return layer.output_hash if layer else ""


def _generation(state: ArticleState) -> str:
    return state.published[-1].generation if state.published else ""


def served_articles(layout: Layout, names: Collection[str]) -> set[str]:
    """Those that are folders of serving articles, or what is left of one: the place may be shared with other things."""
    return {name for name in names if is_article_id(name) and _is_served(layout, name)}


def _is_served(layout: Layout, article_id: str) -> bool:
    folder = layout.serving(article_id)
    return folder.is_dir() and {name for name in names_in(folder) if not name.startswith(".")} <= _SERVED


def _sorted(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids))
