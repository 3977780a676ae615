"""``kb ask``: an answer with its citations, as the agent service would give it."""

import asyncio
from typing import Annotated

import typer

from app.settings import load_app_settings
from kb_pipeline.cli.console import out, print_json
from kb_pipeline.settings import load_settings


def ask(
    question: Annotated[list[str], typer.Argument(help="What you want to know.")],
    top: Annotated[int, typer.Option(min=1, max=50, help="How many passages a search returns.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Ask the knowledge base; the answer cites its sources."""
    from app import terminal  # what answers is not needed by the other commands, and takes a while to load

    settings, knowledge_base = load_app_settings(), load_settings()
    answer = asyncio.run(terminal.ask(" ".join(question), top, settings, knowledge_base, None if as_json else out))
    if as_json:
        print_json(answer)
