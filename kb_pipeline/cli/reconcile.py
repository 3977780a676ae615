"""``kb reconcile``: what readers find is what was published, again."""

import sys
from collections.abc import Mapping
from typing import Any

from kb_pipeline.cli.console import err, named, print_json
from kb_pipeline.cli.options import AsJson, OnlyArticles
from kb_pipeline.cli.progress import Tally, run_with_bar
from kb_pipeline.cli.summary import document, summarise
from kb_pipeline.errors import SettingsError
from kb_pipeline.index_state import IndexState
from kb_pipeline.reconcile import compare
from kb_pipeline.settings import load_settings
from kb_pipeline.state import known_articles
from kb_pipeline.workspace import open_workspace

_WRONG = {
    "missing": "published, but not in the index",
    "stale": "in the index with other sections than were published",
    "unserved": "published, but their files are gone",
    "orphaned": "in the index or served, and known to nobody",
    "pending": "not yet in this generation of the index",
    "unstaged": "gone from staging: kb remove --missing",
}
_DONE = {
    "published_again": "published again",
    "removed": "removed",
    "to_build": "built again, because their files could not simply be put back",
    "dropped_generations": "generations of the index dropped",
}


def reconcile(article: OnlyArticles = None, as_json: AsJson = False) -> None:
    """Repair index and serving files: publish again what is missing or stale, remove what nobody knows.

    Nothing is described or embedded twice. --article: publish this one anew in any case, because kb verify found
    damage. Exit code 1: something is still not as it should be.
    """
    settings = load_settings()
    workspace = open_workspace(settings)
    if strangers := sorted(set(article or ()) - set(known_articles(workspace.layout))):
        raise SettingsError(f"nothing is known of {', '.join(strangers)}; run: kb ingest")
    before = compare(workspace)
    _print_wrong(before, "wrong")
    tally = Tally("repairing")
    run = run_with_bar(settings, "reconcile", {"articles": article or []}, tally)
    done = run.observed("index_state")[0].metadata
    after = compare(workspace)
    _print_done(done)
    if tally.articles:
        summarise(tally, {})
    _print_wrong(after, "still wrong")
    if after.is_good:
        err.print("[green]readers find exactly what was published[/]")
    if as_json:
        repairs = {name: done[name] for name in _DONE}
        print_json({"before": before, "repaired": repairs, "after": after, "built": document(run, tally, {})})
    sys.exit(0 if after.is_good and not tally.failures else 1)


def _print_wrong(state: IndexState, word: str) -> None:
    for name, meaning in _WRONG.items():
        ids: tuple[str, ...] = getattr(state, name)
        if ids:
            err.print(f"[yellow]{word}:[/] {len(ids)} {meaning} ({named(ids)})", soft_wrap=True)
    if state.doubled_entries:
        err.print(f"[yellow]{word}:[/] {state.doubled_entries} entries are doubled")


def _print_done(done: Mapping[str, Any]) -> None:
    for name, meaning in _DONE.items():
        if done[name]:
            err.print(f"{len(done[name])} {meaning} ({named(done[name])})", soft_wrap=True)
