"""Compares the index and the serving folder with the articles that were published.

The index itself is read for this, never a marker file that says what was once written to it.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

from kb_pipeline.errors import IndexDamagedError
from kb_pipeline.flow.layers.chunks import hashes_hash
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.files import names_in
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState

T = TypeVar("T")

_NO_CHUNKS = hashes_hash({})
"""The hash of an article without any chunk."""
_SERVED = {"article.md", "images", "document", "manifest.json"}
"""The contents of an article's serving folder."""


@dataclass(frozen=True)
class IndexState:
    """Counts of the index that these settings make, and the ids of articles that are wrong in it.

    ``entries`` are its sections, not its rows of images and documents; ``doubled_entries`` are rows of any kind.

    Attributes:
        missing: published, but not indexed.
        stale: indexed with other chunks than were published.
        unserved: published, but without serving files.
        orphaned: indexed or served, but not published.
        unstaged: published, but gone from staging.
        pending: published, but not yet in this generation of the index.
        problem: how the index is damaged and what to do; the part that cannot be read counts as missing.
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
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Whether readers find exactly what was published."""
        wrong = self.missing or self.stale or self.unserved or self.orphaned or self.unstaged
        unreadable = bool(self.problem) or (self.articles > 0 and not self.live_generation)
        return not (wrong or self.pending or self.doubled_entries or unreadable)

    @property
    def is_complete(self) -> bool:
        """Whether this generation holds every published article as it was published, so that readers can use it."""
        return not (self.missing or self.stale or self.pending or self.doubled_entries or self.problem)

    def summary(self) -> dict[str, int | str | bool]:
        """Counts, and the first 20 article ids of each kind."""
        wrong = {
            "missing": self.missing,
            "stale": self.stale,
            "unserved": self.unserved,
            "orphaned": self.orphaned,
            "unstaged": self.unstaged,
            "pending": self.pending,
        }
        counts = {name: len(ids) for name, ids in wrong.items()}
        examples = {f"{name}_articles": ", ".join(ids[:20]) for name, ids in wrong.items() if ids}
        return {
            "articles": self.articles,
            "entries": self.entries,
            **counts,
            "doubled_entries": self.doubled_entries,
            "good": self.is_good,
            "generation": self.generation,
            "live_generation": self.live_generation,
            **({"problem": self.problem} if self.problem else {}),
            **examples,
        }


def compare_index(workspace: Workspace, states: Iterable[ArticleState], staged: Collection[str]) -> IndexState:
    """Compare the live index and the serving folder with every article that was published."""
    problems: list[str] = []

    def read(function: Callable[[], T], default: T) -> T:
        try:
            return function()
        except IndexDamagedError as exc:
            problems.append(str(exc))
            return default

    read(workspace.catalog.probe, None)
    live = read(workspace.catalog.live, None)
    no_entries: dict[str, dict[str, str]] = {}
    entries, count = read(workspace.index.entries, no_entries), read(workspace.index.count, 0)
    sections = read(lambda: workspace.index.count_of("text"), 0)
    read(workspace.index.probe, None)
    generation = workspace.generation.id
    if live and live.generation.id != generation:
        read(workspace.catalog.open(live.generation).probe, None)
    served = names_in(workspace.layout.serving_root)
    published = {state.article_id: state for state in states if state.published}
    expected = {
        key: published_hash(state) for key, state in published.items() if state.published[-1].generation == generation
    }
    indexed = {key: hashes_hash(hashes) for key, hashes in entries.items()}
    return IndexState(
        articles=len(indexed),
        entries=sections,
        missing=_sorted(key for key in expected.keys() - indexed.keys() if expected[key] != _NO_CHUNKS),
        stale=_sorted(key for key in expected.keys() & indexed.keys() if expected[key] != indexed[key]),
        unserved=_sorted(published.keys() - served),
        orphaned=_sorted(
            (indexed.keys() - published.keys()) | served_articles(workspace.layout, served - published.keys())
        ),
        unstaged=_sorted(published.keys() - set(staged)),
        pending=_sorted(published.keys() - expected.keys()),
        doubled_entries=count - sum(map(len, entries.values())),
        generation=generation,
        live_generation=live.generation.id if live else "",
        problem=problems[0] if problems else "",
    )


def published_hash(state: ArticleState) -> str:
    """Hash of the chunks that were published last."""
    layer = state.layers.get("search_index")
    return layer.output_hash if layer else ""


def served_articles(layout: Layout, names: Collection[str]) -> set[str]:
    """Those of these names that are serving folders of articles, complete or not.

    The place may be shared, so a folder that holds anything else is not one.
    """
    articles = set()
    for name in filter(is_article_id, names):
        folder = layout.serving(name)
        if folder.is_dir() and {file for file in names_in(folder) if not file.startswith(".")} <= _SERVED:
            articles.add(name)
    return articles


def _sorted(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids))
