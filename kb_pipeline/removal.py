"""Removes articles: from readers first, then everything that was made of them, their state last.

A removal that was interrupted can simply be run again: what has a state is still known.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from kb_pipeline.index_state import served_articles
from kb_pipeline.layers.versions import remove_place
from kb_pipeline.state import load_state
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.storage import for_each, names_in, remove_file, remove_folder
from kb_pipeline.workspace import Workspace

_BATCH = 200
"""Articles per index commit."""


@dataclass(frozen=True)
class Removed:
    """An article that is gone: what readers had of it."""

    article_id: str
    versions: int
    last_version: str


def remove_all(workspace: Workspace, article_ids: Sequence[str]) -> list[Removed]:
    """Remove the articles from every generation of the index, from serving and from all layers.

    Descriptions of their images stay cached by content: they were paid for, and other articles may show them.
    A name that can be no article's can only be in the index, and is removed from there.

    Raises:
        KnowledgeBaseError: a store cannot be written; run it again for the rest.
    """
    removed: list[Removed] = []
    for start in range(0, len(article_ids), _BATCH):
        batch = article_ids[start : start + _BATCH]
        with workspace.locks.hold(batch):
            _remove_from_indexes(workspace, batch)
            removed += for_each(workspace.layout.serving_root, partial(_remove, workspace), batch)
    return removed


def _remove_from_indexes(workspace: Workspace, article_ids: Sequence[str]) -> None:
    for generation in workspace.catalog.generations():
        workspace.catalog.open(generation).remove(article_ids)


def _remove(workspace: Workspace, article_id: str) -> Removed:
    if not is_article_id(article_id):
        return Removed(article_id, 0, "")
    layout = workspace.layout
    state = load_state(layout, article_id)
    remove_place(layout, article_id)
    for folder in (layout.versions(article_id), layout.converted(article_id)):
        remove_folder(folder)
    for file in (layout.descriptions(article_id), layout.staged(article_id), layout.reports(article_id)):
        remove_file(file)
    remove_file(layout.state(article_id))
    return Removed(article_id, len(state.published), state.published_version or "")


def gone_from_staging(workspace: Workspace, article_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """The articles that are really gone from staging, and those that are (again) there."""
    staged = set(workspace.staging.list_articles().article_ids)
    return [key for key in article_ids if key not in staged], [key for key in article_ids if key in staged]


def leftovers(workspace: Workspace, known: Collection[str]) -> list[str]:
    """Ids of which something lies around although they have no state (an interrupted removal, a copy by hand)."""
    layout = workspace.layout
    found = served_articles(layout, names_in(layout.serving_root) - set(known))
    for folder in (layout.home / "versions", layout.home / "converted"):
        found |= {name for name in names_in(folder) - set(known) if (folder / name).is_dir()}
    for folder in (layout.home / "staged", layout.home / "reports", layout.home / "descriptions" / "by-article"):
        found |= {name.removesuffix(".json") for name in names_in(folder) if name.endswith(".json")}
    return sorted(filter(is_article_id, found - set(known)))
