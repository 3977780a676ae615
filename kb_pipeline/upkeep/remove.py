"""Removes articles: first from readers, then all layers, and the state last.

An interrupted removal can be repeated, because an article is known until its state is removed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from kb_pipeline.flow.index_state import served_articles
from kb_pipeline.flow.layers.converted_markdown import kept_conversion
from kb_pipeline.flow.serving_versions import remove_from_serving
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.audit import os_user
from kb_pipeline.store.files import for_each, names_in, remove_file, remove_folder
from kb_pipeline.store.kept import COPIES
from kb_pipeline.store.layout import CONVERSIONS, PREVIEWED
from kb_pipeline.store.state import load_state, remove_state

_BATCH = 200
"""Articles per index commit."""


@dataclass(frozen=True)
class RemovedArticle:
    """An article that was removed, with the number of its published versions and the last of them."""

    article_id: str
    versions: int
    last_version: str


def remove_all(workspace: Workspace, article_ids: Sequence[str]) -> list[RemovedArticle]:
    """Remove the articles from every generation of the index, from the serving folder and from all layers.

    Cached descriptions of their images are kept: they were paid for, and other articles may show the images. An
    invalid article id can only be in the index, and is removed from there.

    Raises:
        KnowledgeBaseError: a store cannot be written; call it again to remove the rest.
    """
    removed: list[RemovedArticle] = []
    for start in range(0, len(article_ids), _BATCH):
        batch = article_ids[start : start + _BATCH]
        with workspace.locks.hold(batch):
            for generation in workspace.catalog.generations():
                workspace.catalog.open(generation).remove(batch)
            removed += for_each(workspace.layout.serving_root, partial(_remove, workspace), batch)
    return removed


def _remove(workspace: Workspace, article_id: str) -> RemovedArticle:
    if not is_article_id(article_id):
        return RemovedArticle(article_id, 0, "")
    layout = workspace.layout
    state = load_state(layout, article_id)
    remove_from_serving(layout, article_id)
    previewed = layout.previewed(article_id)
    copies = layout.home / COPIES / PREVIEWED / article_id
    for folder in (layout.versions(article_id), layout.converted(article_id), previewed, copies):
        remove_folder(folder)
    records = (layout.descriptions, layout.summary, layout.staged, layout.reports)
    for path_of in records:
        remove_file(path_of(article_id))
    workspace.access.forget(article_id)
    kept_conversion(layout, article_id).remove()
    remove_state(layout, article_id)
    workspace.audit.add("remove", os_user(), "pipeline", articles=[article_id])
    return RemovedArticle(article_id, len(state.published), state.published_version or "")


def gone_from_staging(workspace: Workspace, article_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the articles into those that are gone from staging and those that are still, or again, staged."""
    staged = set(workspace.staging.list_articles().article_ids)
    return [key for key in article_ids if key not in staged], [key for key in article_ids if key in staged]


def leftovers(workspace: Workspace, known: Collection[str]) -> list[str]:
    """Ids that have files although they are not ``known``, after an interrupted removal or a copy by hand."""
    layout = workspace.layout
    ids = served_articles(layout, names_in(layout.serving_root) - set(known))
    for folder in (layout.home / "versions", layout.home / "converted", layout.home / PREVIEWED):
        ids |= {name for name in names_in(folder) - set(known) if (folder / name).is_dir()}
    records = (
        "staged",
        "reports",
        "descriptions/by-article",
        "summaries",
        CONVERSIONS,
        f"{COPIES}/{CONVERSIONS}",
        f"{COPIES}/state",
    )
    for folder in (layout.home / name for name in records):
        ids |= {name.removesuffix(".json") for name in names_in(folder) if name.endswith(".json")}
    return sorted(filter(is_article_id, ids - set(known)))
