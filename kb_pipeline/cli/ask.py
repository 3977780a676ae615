"""``kb ask``: the answer that the agent service would give, with its citations."""

from typing import Annotated

import typer

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, out, print_json
from kb_pipeline.settings import load_settings


def ask(
    question: Annotated[list[str], typer.Argument(help="Your question; it needs no quotes.")],
    top: Annotated[int, typer.Option(min=1, max=50, help="Number of passages that a search returns.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Ask the knowledge base a question; the answer cites its sources."""
    answer = open_application(load_settings()).ask(" ".join(question), top, None if as_json else out)
    if as_json:
        print_json(answer)
