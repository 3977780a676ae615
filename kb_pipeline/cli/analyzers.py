"""``kb analyzers``: set up, inspect and delete what the analyzer content-understanding needs on its Azure resource."""

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json
from kb_pipeline.settings import load_settings

if TYPE_CHECKING:
    from kb_pipeline.analyzers.content_understanding.deploy import AnalyzerLifecycle, Defaults

analyzers = typer.Typer(
    help="Prepare Content Understanding: its model defaults and the analyzer that describes images.",
    no_args_is_help=True,
)


@analyzers.command()
def setup(as_json: AsJson = False) -> None:
    """Register the models in KB_OPENAI_DEPLOYMENTS as the resource's model defaults, and remove all others."""
    defaults = _lifecycle().setup()
    if as_json:
        print_json(defaults)
    else:
        _print_changes(defaults)
        out.print(_deployment_table(defaults.deployments))


@analyzers.command()
def deploy(as_json: AsJson = False) -> None:
    """Run setup, then deploy this version's image analyzer; older ones are removed once it is ready."""
    with err.status("deploying"):
        deployment = _lifecycle().deploy()
    if as_json:
        print_json(deployment)
        return
    _print_changes(deployment.defaults)
    result = "deployed" if deployment.created else "was deployed already"
    out.print(f"[green]✓[/] {deployment.analyzer_id} {result}")
    for analyzer_id in deployment.removed:
        out.print(f"{analyzer_id} removed")


@analyzers.command()
def status(as_json: AsJson = False) -> None:
    """Show the analyzer with the fields that it extracts, the model defaults, and what is missing.

    Exit code 1: something is missing. kb check also tests whether the models themselves are deployed.
    """
    readiness = _lifecycle().status()
    if as_json:
        print_json(readiness)
    else:
        out.print(f"{readiness.analyzer_id}: {escape(readiness.analyzer)}")
        fields = new_table("field", "what it extracts of an image")
        for name, meaning in readiness.fields.items():
            fields.add_row(escape(name), escape(re.split(r"[.,:;] ", meaning)[0]))
        out.print(fields)
        out.print(_deployment_table(readiness.deployments))
        for problem, help_ in readiness.problems.items():
            out.print(f"[bold yellow]![/] {escape(problem)}: [bold]{help_}[/]", soft_wrap=True)
        if not readiness.problems:
            out.print("[bold green]✓[/] ready")
    sys.exit(1 if readiness.problems else 0)


@analyzers.command()
def delete(as_json: AsJson = False) -> None:
    """Delete all versions of the image analyzer and keep the model defaults. Does nothing if there is none."""
    removed = _lifecycle().delete()
    if as_json:
        print_json({"removed": removed})
        return
    for analyzer_id in removed:
        out.print(f"{analyzer_id} removed")
    if not removed:
        err.print("there is no analyzer to delete")


def _lifecycle() -> "AnalyzerLifecycle":
    from kb_pipeline.analyzers.content_understanding.deploy import AnalyzerLifecycle  # it imports Azure's SDK

    return AnalyzerLifecycle(load_settings())


def _print_changes(defaults: "Defaults") -> None:
    for model, deployment in defaults.registered.items():
        out.print(f"{escape(model)} registered as deployment {escape(deployment)}")
    for model, deployment in defaults.removed.items():
        out.print(f"{escape(model)} removed (it was deployment {escape(deployment)})")


def _deployment_table(deployments: Mapping[str, str]) -> Table:
    table = new_table("model", "deployment")
    for model, deployment in sorted(deployments.items()):
        table.add_row(escape(model), escape(deployment))
    return table
