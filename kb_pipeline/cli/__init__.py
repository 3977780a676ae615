"""The ``kb`` command line: the same jobs as the Dagster UI, for terminals and scripts.

Exit codes: 0 done, 1 some articles failed, 2 could not start (settings, arguments, no index).
"""

import sys
from typing import NoReturn

import typer

from kb_pipeline.cli.console import explain
from kb_pipeline.cli.ingest import ingest
from kb_pipeline.cli.search import search
from kb_pipeline.cli.serve import serve
from kb_pipeline.cli.show import show
from kb_pipeline.errors import KnowledgeBaseError

app = typer.Typer(
    name="kb",
    help="Folders of HTML articles with screenshots become a searchable knowledge base.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (ingest, search, show, serve):
    app.command()(command)


def main() -> NoReturn:
    """Run a command; what went wrong on purpose is said in a sentence, without a stack trace."""
    try:
        app(standalone_mode=True)
    except KnowledgeBaseError as exc:
        explain(exc)
        sys.exit(2)
    sys.exit(0)
