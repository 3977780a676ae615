"""``kb scenario`` lists, checks, loads and unloads networks; ``kb investigate`` says what broke in one, and why."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json
from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.opening import LOADERS, configured_scenario, loaded_version, open_loader
from kb_pipeline.network.scenario import list_scenarios
from kb_pipeline.network.versions import forget_scenario
from kb_pipeline.settings import load_settings

if TYPE_CHECKING:
    from kb_pipeline.network.checks import CheckResult

scenario = typer.Typer(
    help="List, check, load and unload scenarios: networks with their telemetry.", no_args_is_help=True
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The scenario; default: KB_SCENARIO, or the only one.")]
_MOST = 1_000_000


@scenario.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the scenarios of KB_SCENARIOS, and which version readers have."""
    settings = load_settings()
    names = list_scenarios(Path(settings.scenarios))
    loaded = {name: loaded_version(settings, name) for name in names}
    if as_json:
        print_json([{"name": name, "loaded": version} for name, version in loaded.items()])
        return
    table = new_table("scenario", "loaded version")
    for name, version in loaded.items():
        table.add_row(escape(name), version or "not loaded")
    out.print(table)


@scenario.command("check")
def check(name: Name = "", as_json: AsJson = False) -> None:
    """Read a scenario and check it, without loading it."""
    from kb_pipeline.network.checks import check_network, check_telemetry
    from kb_pipeline.network.tables import read_tables

    folder = configured_scenario(load_settings(), name)
    tables = read_tables(folder)
    found = check_network(folder.scenario, tables.vertices, tables.edges)
    found += check_telemetry(folder.scenario, tables.vertices, tables.telemetry)
    counts = {"vertices": len(tables.vertices), "edges": len(tables.edges)}
    counts |= {container: len(table) for container, table in tables.telemetry.items()}
    _print_checks(counts, found, as_json=as_json)
    if any(each.blocking and not each.passed for each in found):
        raise typer.Exit(1)


@scenario.command("load")
def load(name: Name = "", as_json: AsJson = False) -> None:
    """Load a scenario, as its assets do in Dagster; readers get it when it is whole and its checks passed."""
    from kb_pipeline.network.loading import load as load_stages

    settings = load_settings()
    folder = configured_scenario(settings, name)
    with closing(open_loader(settings, folder)) as loader:
        stages = load_stages(folder, settings.home_path, loader)
    found = [each for stage in stages for each in stage.checks]
    _print_checks(stages[-1].counts, found, as_json=as_json)
    if not as_json:
        err.print("loaded" if stages[-1].made else "nothing changed")


@scenario.command("unload")
def unload(name: Name, as_json: AsJson = False) -> None:
    """Remove what was loaded of a scenario; its folder is left as it is."""
    settings = load_settings()
    was = loaded_version(settings, name)
    if not was:
        raise ScenarioError(f"the scenario {name!r} is not loaded")
    if settings.network in LOADERS:
        with closing(open_loader(settings, configured_scenario(settings, name))) as loader:
            loader.forget()
    forget_scenario(settings.home_path, name)
    if as_json:
        print_json({"name": name, "unloaded": was})
    else:
        err.print(f"unloaded {escape(name)}")


def investigate(
    alert: Annotated[str, typer.Argument(help="An alert, or a storm of them; - reads it from stdin.")] = "-",
    name: Annotated[str, typer.Option("--scenario", help="The scenario; default: KB_SCENARIO, or the only one.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what broke in a network, and why, step by step."""
    text = sys.stdin.read(_MOST + 1) if alert == "-" else alert
    if not text.strip() or len(text) > _MOST:
        raise ScenarioError(f"an alert has between 1 and {_MOST:,} characters")
    found = open_application(load_settings()).investigate(text, name, None if as_json else err)
    if as_json:
        print_json(found)
        return
    out.print(Markdown(found.report, hyperlinks=False))


def _print_checks(counts: dict[str, int], found: "list[CheckResult]", *, as_json: bool) -> None:
    if as_json:
        checks = [{"name": each.name, "passed": each.passed, "problem": each.problem} for each in found]
        print_json({"counts": counts, "checks": checks})
        return
    err.print(", ".join(f"{rows:,} {name}" for name, rows in counts.items()))
    table = new_table("check", "outcome")
    for each in found:
        word = "passed" if each.passed else escape(each.problem)
        table.add_row(each.name, word if each.passed or each.blocking else f"warning: {word}")
    out.print(table)
