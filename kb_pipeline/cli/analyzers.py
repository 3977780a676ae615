"""``kb analyzers``: what the analyzer content-understanding needs on its resource, made, looked at, removed."""

import sys
from collections.abc import Mapping

import typer
from rich.markup import escape

from kb_pipeline.analyzers.content_understanding_defaults import Defaults
from kb_pipeline.analyzers.content_understanding_lifecycle import AnalyzerLifecycle, Readiness
from kb_pipeline.cli.console import err, new_table, out, print_json
from kb_pipeline.cli.options import AsJson
from kb_pipeline.settings import load_settings

analyzers = typer.Typer(
    help="Make Content Understanding ready: its model defaults and the analyzer that describes images.",
    no_args_is_help=True,
)


@analyzers.command()
def setup(as_json: AsJson = False) -> None:
    """Register the resource's model defaults, by KB_OPENAI_DEPLOYMENTS, and remove all others."""
    defaults = _lifecycle().setup()
    if as_json:
        print_json(defaults)
    else:
        _tell(defaults)
        out.print(_table(defaults.deployments))


@analyzers.command()
def deploy(as_json: AsJson = False) -> None:
    """Set up, then put this version's image analyzer beside the one in use; older ones go once it is ready."""
    with err.status("deploying"):
        deployed = _lifecycle().deploy()
    if as_json:
        print_json(deployed)
        return
    _tell(deployed.defaults)
    made = "deployed" if deployed.created else "was deployed already"
    out.print(f"[green]✓[/] {deployed.analyzer_id} {made}")
    for analyzer_id in deployed.removed:
        out.print(f"{analyzer_id} removed")


@analyzers.command()
def status(as_json: AsJson = False) -> None:
    """Tell whether analyzer and model defaults are there, and what is missing.

    Exit code 1: something is. That the models themselves are deployed, only kb check finds out.
    """
    found = _lifecycle().status()
    if as_json:
        print_json(found)
    else:
        _print(found)
    sys.exit(1 if found.problems else 0)


@analyzers.command()
def delete(as_json: AsJson = False) -> None:
    """Remove the image analyzer in every version; the model defaults stay. Nothing happens if there is none."""
    removed = _lifecycle().delete()
    if as_json:
        print_json({"removed": removed})
        return
    for analyzer_id in removed:
        out.print(f"{analyzer_id} removed")
    if not removed:
        err.print("there was no analyzer of ours")


def _lifecycle() -> AnalyzerLifecycle:
    return AnalyzerLifecycle(load_settings())


def _tell(changed: Defaults) -> None:
    for model, deployment in changed.registered.items():
        out.print(f"{escape(model)} registered as deployment {escape(deployment)}")
    for model, deployment in changed.removed.items():
        out.print(f"{escape(model)} removed (it was deployment {escape(deployment)})")


def _print(found: Readiness) -> None:
    out.print(f"{found.analyzer_id}: {escape(found.analyzer)}")
    out.print(_table(found.deployments))
    for problem, help_ in found.problems.items():
        out.print(f"[bold yellow]![/] {escape(problem)}: [bold]{help_}[/]", soft_wrap=True)
    if not found.problems:
        out.print("[bold green]✓[/] everything is as it should be")


def _table(deployments: Mapping[str, str]) -> object:
    table = new_table("model", "deployment")
    for model, deployment in sorted(deployments.items()):
        table.add_row(escape(model), escape(deployment))
    return table
