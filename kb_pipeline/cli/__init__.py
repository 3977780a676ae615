"""The ``kb`` command line: the same jobs as the Dagster UI, for terminals and scripts.

Exit codes: 0 success, 1 articles failed or something needs attention, 2 could not start (settings, arguments, no
index), 130 interrupted.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer

from kb_pipeline import __version__
from kb_pipeline.cli.analyzers import analyzers
from kb_pipeline.cli.ask import ask
from kb_pipeline.cli.audit import audit
from kb_pipeline.cli.backlog import backlog
from kb_pipeline.cli.check import check
from kb_pipeline.cli.console import explain, print_json
from kb_pipeline.cli.contributions import contribute, contributions
from kb_pipeline.cli.documents import documents
from kb_pipeline.cli.empty import empty
from kb_pipeline.cli.estimate import estimate
from kb_pipeline.cli.evaluate import evaluate
from kb_pipeline.cli.gaps import gaps
from kb_pipeline.cli.generations import generations
from kb_pipeline.cli.ingest import ingest, retry
from kb_pipeline.cli.init import init
from kb_pipeline.cli.intake import intake
from kb_pipeline.cli.mcp import mcp
from kb_pipeline.cli.preview import preview
from kb_pipeline.cli.repair import reconcile, remove, rollback, verify
from kb_pipeline.cli.scenario import investigate, scenario
from kb_pipeline.cli.search import search
from kb_pipeline.cli.serve import serve
from kb_pipeline.cli.show import diff, show, trace, versions
from kb_pipeline.cli.status import failures, status
from kb_pipeline.cli.usage import usage
from kb_pipeline.errors import KnowledgeBaseError

COMMANDS: Mapping[str, Sequence[Callable[..., Any]]] = {
    "Every day": (init, ingest, status, ask, search, serve, mcp),
    "Inspect": (
        check,
        documents,
        backlog,
        evaluate,
        usage,
        failures,
        show,
        trace,
        versions,
        diff,
        audit,
        estimate,
        preview,
        generations,
    ),
    "Networks": (investigate,),
    "Contribute": (contribute,),
    "Repair and roll back": (retry, reconcile, verify, remove, rollback, empty),
}

app = typer.Typer(
    name="kb",
    epilog="Exit codes: 0 success; 1 articles failed, or something needs attention; 2 could not start.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"kb {__version__}\n")
        raise typer.Exit


@app.callback()
def kb(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn folders of articles and documents into a knowledge base that answers, and say what broke in a network."""


for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(intake, name="intake", rich_help_panel="Every day")
app.add_typer(contributions, name="contributions", rich_help_panel="Contribute")
app.add_typer(gaps, name="gaps", rich_help_panel="Contribute")
app.add_typer(scenario, name="scenario", rich_help_panel="Networks")
app.add_typer(analyzers, name="analyzers", rich_help_panel="Services")


def main() -> NoReturn:
    """Run a command. Errors that this package raises on purpose are printed without a stack trace.

    With ``--json`` they are also the document on stdout, so that a program always finds one there.
    """
    try:
        app(standalone_mode=True)
    except KnowledgeBaseError as exc:
        explain(exc)
        if {"--json", "-j"}.intersection(sys.argv[1:]):
            print_json({"error": str(exc)})
        sys.exit(2)
    sys.exit(0)
