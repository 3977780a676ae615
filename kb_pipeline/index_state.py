"""The index as it is, against the index as it should be. The live index is asked, never a marker."""

from dataclasses import dataclass

from kb_pipeline.state import load_states
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class IndexState:
    """Counts of the live index, and the articles that are not as they should be.

    ``missing``: chunked, not indexed. ``stale``: indexed with other chunks. ``orphaned``: indexed, never made.
    ``unstaged``: indexed, and gone from staging.
    """

    articles: int
    entries: int
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    orphaned: tuple[str, ...]
    unstaged: tuple[str, ...]
    doubled_entries: int

    @property
    def is_good(self) -> bool:
        """Whether the index holds exactly what was chunked and embedded of the articles that are staged."""
        return not (self.missing or self.stale or self.orphaned or self.unstaged or self.doubled_entries)

    def summary(self) -> dict[str, int | str | bool]:
        """Numbers, and the first names of each kind."""
        named = {"missing": self.missing, "stale": self.stale, "orphaned": self.orphaned, "unstaged": self.unstaged}
        counts = {name: len(ids) for name, ids in named.items()}
        examples = {f"{name}_articles": ", ".join(ids[:20]) for name, ids in named.items() if ids}
        return {
            "articles": self.articles,
            "entries": self.entries,
            **counts,
            "doubled_entries": self.doubled_entries,
            "good": self.is_good,
            **examples,
        }


def compare_index(workspace: Workspace) -> IndexState:
    """Compare the live index with every article that has chunks and embeddings."""
    entries = workspace.index.entries()
    live = {article_id: fingerprint(sorted(hashes.items())) for article_id, hashes in entries.items()}
    wanted = {
        state.article_id: state.layers["chunks"].output_hash
        for state in load_states(workspace.layout)
        if "chunk_embeddings" in state.layers
    }
    nothing = fingerprint([])  # an article may have no chunk at all
    staged = set(workspace.staging.list_articles().article_ids)
    count = workspace.index.count()
    return IndexState(
        articles=len(live),
        entries=count,
        missing=tuple(sorted(key for key in wanted.keys() - live.keys() if wanted[key] != nothing)),
        stale=tuple(sorted(key for key in wanted.keys() & live.keys() if wanted[key] != live[key])),
        orphaned=tuple(sorted(live.keys() - wanted.keys())),
        unstaged=tuple(sorted((live.keys() & wanted.keys()) - staged)),
        doubled_entries=count - sum(map(len, entries.values())),
    )
