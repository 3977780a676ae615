"""``kb failures``: what could not be published, why, and what to do about it."""

import sys

from rich.markup import escape
from rich.padding import Padding

from kb_pipeline.cli.console import err, out, print_json, when
from kb_pipeline.cli.options import AsJson
from kb_pipeline.settings import load_settings
from kb_pipeline.state import ArticleState, Failure, load_states
from kb_pipeline.workspace import open_workspace


def failures(as_json: AsJson = False) -> None:
    """List the articles whose newest version could not be published, and what to do.

    Exit code 1: there are some.
    """
    workspace = open_workspace(load_settings())
    staged = set(workspace.staging.list_articles().article_ids)
    failing = [(state, state.failure) for state in load_states(workspace.layout) if state.failure]
    advised = [(state, failure, _advice(failure, state.article_id in staged)) for state, failure in failing]
    if as_json:
        print_json([_plain(*row) for row in advised])
    elif advised:
        _print(advised)
    else:
        err.print("no article fails")
    sys.exit(1 if advised else 0)


def _advice(failure: Failure, is_staged: bool) -> str:
    if not is_staged:
        return "it is gone from staging: kb remove"
    if failure.transient:
        return "tried again by itself while kb serve runs; or: kb retry"
    if "this is a defect" in failure.error:
        return "report it; its stack trace: kb failures --json"
    return "mend it in staging: it is then ingested again"


def _plain(state: ArticleState, failure: Failure, advice: str) -> dict[str, object]:
    return {
        "article_id": state.article_id,
        "kind": _kind(failure),
        "published_version": state.published_version,
        "what_to_do": advice,
        **failure.model_dump(exclude={"transient"}),
    }


def _kind(failure: Failure) -> str:
    return "transient" if failure.transient else "permanent"


def _print(advised: list[tuple[ArticleState, Failure, str]]) -> None:
    for state, failure, advice in advised:
        shown = "an older version is published" if state.published else "nothing of it is published"
        colour = "yellow" if failure.transient else "red"
        tries = f"{failure.attempts} {'try' if failure.attempts == 1 else 'tries'} since {when(failure.first_at)}"
        error = failure.error.partition("\n")[0].removeprefix(f"{state.article_id}: ")
        out.print(
            f"[bold]{escape(state.article_id)}[/]  [{colour}]{_kind(failure)}[/] in {failure.layer}, {tries}, {shown}",
            soft_wrap=True,
        )
        out.print(Padding(f"{escape(error)}\n[dim]{advice}[/]", (0, 0, 1, 3)))
