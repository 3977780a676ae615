"""The invariants of a knowledge base at rest, checked on the files, the index and Dagster rather than on summaries.

Each function returns its findings in words, or nothing if all is well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import dagster as dg

from benchmarks.stack import Stack
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.serving_versions import is_served
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.files import names_in
from kb_pipeline.store.state import known_articles, load_state
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline.upkeep.remove import leftovers
from kb_pipeline.upkeep.verify import verify

_NAMED = 5


def problems(stack: Stack) -> list[str]:
    """All problems of the knowledge base, compared with its staging folder."""
    with stack.entered():
        workspace = Workspace(stack.settings)
        staged = set(workspace.staging.list_articles().article_ids)
        found = [*_of_sets(stack, workspace, staged), *_of_index(workspace)]
        for article_id in sorted(staged):
            found += [f"{article_id}: {problem}" for problem in _of_article(stack, workspace, article_id)]
        return [*found, *_of_runs(stack)]


def _of_sets(stack: Stack, workspace: Workspace, staged: set[str]) -> Iterator[str]:
    """Check that every place holds exactly the staged articles, each once."""
    layout = workspace.layout
    with stack.instance() as instance:
        partitions = instance.get_dynamic_partitions("articles")
        materialized = instance.get_materialized_partitions(dg.AssetKey("search_index"))
    entries = workspace.index.entries()
    places = {
        "states": known_articles(layout),
        "partitions": partitions,
        "serving folders": names_in(layout.serving_root),
        "versions": names_in(layout.home / "versions"),
        "articles in the index": entries,
        "conversions": names_in(layout.home / "converted"),
    }
    for place, names in places.items():
        there = [name for name in names if not name.startswith(".")]
        yield from _named(f"{place} missing", staged.difference(there))
        yield from _named(f"{place} left over", set(there) - staged)
        yield from _named(f"{place} doubled", [name for name, count in Counter(there).items() if count > 1])
    # the history also keeps removed articles
    yield from _named("published, but nowhere in Dagster's history", staged - materialized)
    yield from _named("left lying around", leftovers(workspace, staged))
    if workspace.index.count() != sum(map(len, entries.values())):
        yield "there are two entries of one id in the index"


def _of_index(workspace: Workspace) -> Iterator[str]:
    state = compare(workspace)
    if not state.is_good:
        yield f"the index is not good: {state.summary()}"


def _of_article(stack: Stack, workspace: Workspace, article_id: str) -> Iterator[str]:
    """Check that the newest source is published, complete, and without extra files."""
    layout, state = workspace.layout, load_state(workspace.layout, article_id)
    if state.failure:
        yield f"fails: {state.failure.error}"
    version = state.published_version
    if version is None:
        yield "is not published"
        return
    if not is_served(layout, article_id, version):
        yield f"its serving folder is not version {version}"
    folder = Path(str(layout.serving(article_id)))
    shown = {path: sha256((folder / path).read_bytes()) for path in _files(folder) if path.startswith("images/")}
    if shown != {image.path: image.sha256 for image in load_manifest(layout.serving(article_id)).images}:
        yield "its images are not those of its manifest"
    verification = verify(open_workspace(stack.settings), article_id)  # rebuilds it from the source
    yield from verification.problems
    if verification.skipped:
        yield f"could not be compared with its source: {verification.skipped}"


def _of_runs(stack: Stack) -> Iterator[str]:
    with stack.instance() as instance:
        runs = instance.get_runs()
        yield from _named("runs that never ended", [run.run_id for run in runs if not run.is_finished])
        slots = instance.event_log_storage.get_concurrency_info
        pools = instance.event_log_storage.get_concurrency_keys()
        yield from _named("pools with slots that nobody gave back", [key for key in pools if slots(key).claimed_slots])


def stray_files(stack: Stack) -> list[str]:
    """Half-written temporary files of killed processes; nothing reads them."""
    home = Path(stack.settings.home)
    return sorted(
        str(path.relative_to(home)) for path in home.rglob(".*") if path.is_file() and len(path.name) == len(".") + 32
    )


def run_statuses(instance: dg.DagsterInstance) -> dict[str, int]:
    """The number of runs by status."""
    return dict(sorted(Counter(run.status.value for run in instance.get_runs()).items()))


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _named(what: str, names: Iterable[str]) -> Iterator[str]:
    some = sorted(names)
    if some:
        yield f"{len(some)} {what}: {', '.join(some[:_NAMED])}"
