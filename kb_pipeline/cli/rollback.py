"""``kb rollback``: an article as it was published before, for as long as its source stays the same."""

import sys
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import err, print_json
from kb_pipeline.cli.options import Article, AsJson
from kb_pipeline.cli.progress import Tally, run_with_bar
from kb_pipeline.cli.summary import document, summarise
from kb_pipeline.errors import SettingsError
from kb_pipeline.history import list_versions
from kb_pipeline.settings import load_settings
from kb_pipeline.state import load_state
from kb_pipeline.workspace import open_workspace


def rollback(
    article: Article,
    version: Annotated[
        str | None, typer.Argument(help="A version, or the beginning of its id; default: the one before.")
    ] = None,
    release: Annotated[bool, typer.Option("--release", help="Undo: publish what the source says again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put an earlier version of an article back, until its authors change it or you release it.

    Exit code 1: it could not be published.
    """
    if release and version:
        raise SettingsError("--release publishes what the source says; leave out the version")
    settings = load_settings()
    workspace = open_workspace(settings)
    list_versions(workspace, article)  # an article that nobody knows needs no run to be told
    tally = Tally("publishing", 1)
    config = {"article": article, "version": version or "", "release": release}
    run = run_with_bar(settings, "rollback_article", config, tally)
    if tally.failures:
        summarise(tally, {})
    state = load_state(workspace.layout, article)
    if not tally.failures:
        undo = f"until its source changes; undo: kb rollback {article} --release" if state.pinned_version else ""
        err.print(f"[green]readers see version {state.published_version}[/] {escape(undo)}", soft_wrap=True)
    if as_json:
        versions = {"published_version": state.published_version, "put_back": state.pinned_version}
        print_json(versions | document(run, tally, {}))
    sys.exit(1 if tally.failures else 0)
