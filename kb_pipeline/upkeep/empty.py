"""Empties an environment: removes what was made of the articles, part by part, but not the articles themselves.

What people put in stays: staging, contributions, questions for evaluations with what came of them, conversations,
investigations; so do the audit log, and the access lists, as what stays may quote the articles. Conversations,
investigations and staging are removed only where that is asked for. Each part can be interrupted and repeated, and none
depends on another.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from upath import UPath

from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.flow.index_state import served_articles
from kb_pipeline.flow.serving_versions import remove_from_serving
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.secrets import without_sign_in
from kb_pipeline.services.service import one_line
from kb_pipeline.store.files import for_each, names_in, remove_file, remove_folder
from kb_pipeline.store.home import HOME_CONTENTS
from kb_pipeline.store.loose_files import BESIDE, staged_path
from kb_pipeline.store.staging import Staging

_KEPT = {
    *(
        "access",
        "audit",
        "contributions",
        "conversations.db",
        "conversations.db-shm",
        "conversations.db-wal",
        "dagster",
        "evaluation",
    ),
    *("intake", "intake.yaml", "investigations"),  # the first says which staged articles were taken in
    *("index", "locks", "serving"),  # the first and the last are parts of their own, locks are being held
}


@dataclass(frozen=True)
class EnvironmentPart:
    """A part of an environment: where it is, how to name what is in it, and how to remove that."""

    name: str
    place: str
    unit: str
    find: Callable[[], list[str]]
    remove: Callable[[], object]


@dataclass(frozen=True)
class PartResult:
    """What is in a part, or was removed from it; ``error`` says why it could not be read or emptied."""

    name: str
    place: str
    unit: str
    items: list[str] = field(default_factory=list)
    error: str = ""


def parts_of(workspace: Workspace, *, staging: bool) -> list[EnvironmentPart]:
    """The parts to empty, what readers see first; Dagster's partitions and conversations are not among them.

    Raises:
        KnowledgeBaseError: a backend cannot be opened with these settings.
    """
    settings, layout, catalog = workspace.settings, workspace.layout, workspace.catalog
    index = settings.index_uri or str(layout.home / "index")
    place = settings.search_endpoint or index if settings.index == "azure-ai-search" else index
    parts = [
        EnvironmentPart("search index", without_sign_in(place), "indexes and aliases", catalog.contents, catalog.clear),
        EnvironmentPart(
            "serving articles",
            without_sign_in(str(layout.serving_root)),
            "articles",
            partial(_served, workspace),
            partial(_remove_served, workspace),
        ),
        EnvironmentPart(
            "layers, states and caches",
            str(layout.home),
            "folders and files",
            partial(_made, workspace),
            partial(_remove_made, workspace),
        ),
    ]
    if settings.content_understanding_endpoint:
        parts.append(_analyzers(workspace))
    if staging and workspace.staging.made_elsewhere:
        raise SettingsError(
            f"{without_sign_in(settings.staging)} holds articles that another program made (KB_STAGING_HOLDS=serving); "
            "they are never deleted from here, so leave out --staging"
        )
    if staging:
        root, remove = without_sign_in(settings.staging), partial(_remove_staged, workspace)
        parts.append(EnvironmentPart("staging", root, "articles", partial(_staged, workspace), remove))
    return parts


def examine(parts: Iterable[EnvironmentPart]) -> list[PartResult]:
    """What is in the parts; nothing is changed."""
    return [_result(part, part.find) for part in parts]


def empty(parts: Iterable[EnvironmentPart]) -> Iterator[PartResult]:
    """Empty one part after the other, and tell what was removed. A part that fails does not keep the others."""
    for part in parts:
        yield _result(part, partial(_emptied, part))


def _emptied(part: EnvironmentPart) -> list[str]:
    items = part.find()
    part.remove()
    return items


def _result(part: EnvironmentPart, work: Callable[[], list[str]]) -> PartResult:
    try:
        return PartResult(part.name, part.place, part.unit, work())
    except KnowledgeBaseError as exc:
        return PartResult(part.name, part.place, part.unit, error=one_line(str(exc)))


def _served(workspace: Workspace) -> list[str]:
    layout = workspace.layout
    return sorted(served_articles(layout, names_in(layout.serving_root)))


def _remove_served(workspace: Workspace) -> None:
    layout = workspace.layout
    for_each(layout.serving_root, partial(remove_from_serving, layout), _served(workspace))


def _made(workspace: Workspace) -> list[str]:
    return sorted((HOME_CONTENTS - _KEPT) & names_in(workspace.layout.home))


def _remove_made(workspace: Workspace) -> None:
    for name in _made(workspace):
        path = workspace.layout.home / name
        (remove_folder if path.is_dir() else remove_file)(path)


def _analyzers(workspace: Workspace) -> EnvironmentPart:
    from kb_pipeline.analyzers.content_understanding.deploy import AnalyzerLifecycle  # it imports Azure's SDK

    lifecycle = AnalyzerLifecycle(workspace.settings)
    return EnvironmentPart(
        "analyzers of Content Understanding",
        without_sign_in(workspace.settings.content_understanding_endpoint or ""),
        "analyzers",
        lambda: [*lifecycle.deployed()],
        lifecycle.delete,
    )


def conversations(count: Callable[[], int], delete: Callable[[], None]) -> EnvironmentPart:
    """The conversations of all people as a part."""

    def find() -> list[str]:
        number = count()
        return [f"{number} conversations"] if number else []

    return EnvironmentPart("conversations", "", "stores", find, delete)


def _staged(workspace: Workspace) -> list[str]:
    return [*Staging(workspace.staging.root).list_articles().article_ids]  # those beside it are removed with the home


def _remove_staged(workspace: Workspace) -> None:
    article_ids = _staged(workspace)
    for folder_of_pages in Staging(workspace.staging.root).scan().part_folders:
        remove_folder(workspace.staging.root / folder_of_pages)
    for article_id in article_ids:
        folder = workspace.staging.root / article_id
        if folder.is_dir():
            remove_folder(folder)
        else:
            for path in _loose(workspace, article_id):
                remove_file(path)


def _loose(workspace: Workspace, article_id: str) -> Iterator[UPath]:
    """The files of a loose document, and what pages share; itself last, as without it they belong to no article."""
    root = workspace.staging.root
    for name in sorted(workspace.staging.names(article_id) or (), key=article_id.__eq__):
        yield root / (name.removeprefix(BESIDE) if name.startswith(BESIDE) else staged_path(article_id, name))


def name_of(workspace: Workspace) -> str:
    """The name of the environment, which a person types to empty it: that of its home folder."""
    return Path(workspace.settings.home).resolve().name


def investigations(workspace: Workspace) -> EnvironmentPart:
    """The investigations of all people as a part."""
    folder = workspace.layout.home / "investigations"

    def find() -> list[str]:
        number = sum(name.endswith(".jsonl") for name in names_in(folder))
        return [f"{number} investigations"] if number else []

    return EnvironmentPart("investigations", str(folder), "folders", find, partial(remove_folder, folder))
