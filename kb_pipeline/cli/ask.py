"""``kb ask``: the answer that the agent service would give, with its citations, also beside an earlier answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from kb_pipeline.application import open_application
from kb_pipeline.asking import AskOptions, Scope
from kb_pipeline.cli.console import AsJson, out, print_json
from kb_pipeline.errors import SettingsError
from kb_pipeline.records import KnowledgeMode
from kb_pipeline.settings import load_settings

_TOP = 5
"""Passages of a search, as the service has it by default."""


def ask(
    question: Annotated[list[str] | None, typer.Argument(help="Your question; it needs no quotes.")] = None,
    top: Annotated[
        int | None, typer.Option(min=1, max=50, help=f"Number of passages that a search returns; default: {_TOP}.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="ANSWER",
            help="Instead of a question: compare a stored answer with what would be answered now. "
            "ANSWER is the response_id of a turn in GET /api/conversations/ID.",
        ),
    ] = None,
    sources: Annotated[
        bool, typer.Option("--sources", help="Name file and page behind each statement, instead of a number.")
    ] = False,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--document",
            metavar="ID",
            help="Ask about this document only; give the option again for each further one. "
            "GET /api/documents lists the ids.",
        ),
    ] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Search in documents of this type only; can be repeated.")
    ] = None,
    departments: Annotated[
        list[str] | None, typer.Option("--department", help="Only in documents of this department; can be repeated.")
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", help="Only in documents with this topic; can be repeated.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A screenshot that belongs to the question: PNG, JPEG or WebP. It needs no question."
        ),
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Answer from the web, if KB_WEB_SEARCH allows it, instead of the articles.")
    ] = False,
    mode: Annotated[
        KnowledgeMode | None,
        typer.Option(help="Answer without sections that are left for later (poc), or with them; default: KB_MODE."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask the knowledge base a question; the answer cites its sources."""
    scope = {"type": types or (), "department": departments or (), "topic": topics or ()}
    if as_of is not None:
        own = {"web": web, "document": documents, "mode": mode, "picture": picture, **scope}
        if given := next((option for option, value in own.items() if value), None):
            raise SettingsError(f"--as-of asks the stored question as it was; leave out --{given}")
    if (question is None and picture is None) == (as_of is None):
        raise SettingsError("ask either a question, or with --as-of again the one of a stored answer")
    application = open_application(load_settings())
    console = None if as_json else out
    if as_of is not None:
        answer = application.ask_again(as_of, top, console)
    else:
        options = AskOptions(
            top_k=top or _TOP, document_ids=tuple(documents or ()), web=web, mode=mode, scope=_scope(scope)
        )
        answer = application.ask(" ".join(question or ()), options, console, sources=sources, picture=picture)
    if as_json:
        print_json(answer)


def _scope(named: Mapping[str, Sequence[str]]) -> Scope:
    try:
        return Scope.model_validate({kind: tuple(names) for kind, names in named.items()})
    except ValidationError as exc:
        kind = exc.errors()[0]["loc"][0]
        raise SettingsError(
            f"--{kind} takes names of 1 to 200 characters, 20 at most; GET /api/collections lists those there are"
        ) from exc
