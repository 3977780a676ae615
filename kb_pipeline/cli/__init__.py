"""The ``kb`` command line: the same jobs as the Dagster UI, for terminals and scripts.

Exit codes: 0 done and good, 1 articles failed or something is not as it should be, 2 could not start (settings,
arguments, no index), 130 interrupted.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import typer

from kb_pipeline.cli.analyzers import analyzers
from kb_pipeline.cli.ask import ask
from kb_pipeline.cli.check import check
from kb_pipeline.cli.console import explain
from kb_pipeline.cli.diff import diff
from kb_pipeline.cli.estimate import estimate
from kb_pipeline.cli.evaluate import evaluate
from kb_pipeline.cli.failures import failures
from kb_pipeline.cli.generations import generations
from kb_pipeline.cli.ingest import ingest
from kb_pipeline.cli.reconcile import reconcile
from kb_pipeline.cli.remove import remove
from kb_pipeline.cli.retry import retry
from kb_pipeline.cli.rollback import rollback
from kb_pipeline.cli.search import search
from kb_pipeline.cli.serve import serve
from kb_pipeline.cli.show import show
from kb_pipeline.cli.status import status
from kb_pipeline.cli.trace import trace
from kb_pipeline.cli.verify import verify
from kb_pipeline.cli.versions import versions
from kb_pipeline.errors import KnowledgeBaseError

COMMANDS: Mapping[str, Sequence[Callable[..., Any]]] = {
    "Every day": (ingest, status, ask, search, serve),
    "Look": (check, evaluate, failures, show, trace, versions, diff, estimate, generations),
    "Repair and go back": (retry, reconcile, verify, remove, rollback),
}

app = typer.Typer(
    name="kb",
    help="Folders of HTML articles with screenshots become a searchable knowledge base.",
    epilog="Exit codes: 0 done and good; 1 articles failed, or something is not as it should be; 2 could not start.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(analyzers, name="analyzers", rich_help_panel="Services")


def main() -> NoReturn:
    """Run a command; what went wrong on purpose is said in a sentence, without a stack trace."""
    try:
        app(standalone_mode=True)
    except KnowledgeBaseError as exc:
        explain(exc)
        sys.exit(2)
    sys.exit(0)
