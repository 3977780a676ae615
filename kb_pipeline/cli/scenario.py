"""``kb scenario`` lists, checks, loads and unloads networks; ``kb investigate`` says what broke in one, and why."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, err, named, new_table, out, print_json
from kb_pipeline.cli.diagnosis import evaluate
from kb_pipeline.cli.publishing import ingest_stale, remove_gone
from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.opening import LOADERS, configured_scenario, loaded_version, open_loader
from kb_pipeline.network.scenario import list_scenarios
from kb_pipeline.network.versions import forget_scenario
from kb_pipeline.settings import load_settings
from kb_pipeline.wording import counted

if TYPE_CHECKING:
    from kb_pipeline.network.checks import NetworkCheck

scenario = typer.Typer(
    help="List, check, load and unload scenarios: networks with their telemetry.", no_args_is_help=True
)
scenario.command("evaluate")(evaluate)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The scenario; default: KB_SCENARIO, or the only one.")]
_MOST = 1_000_000
"""Characters of an alert, as the service takes them."""


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
    from kb_pipeline.network.checks import check_incidents, check_network, check_telemetry
    from kb_pipeline.network.tables import read_tables

    folder = configured_scenario(load_settings(), name)
    tables = read_tables(folder)
    checks = check_network(folder.scenario, tables.vertices, tables.edges)
    checks.append(check_incidents(folder, tables.vertices))
    checks += check_telemetry(folder.scenario, tables.vertices, tables.telemetry)
    counts = {"vertices": len(tables.vertices), "edges": len(tables.edges)}
    counts |= {container: len(table) for container, table in tables.telemetry.items()}
    if as_json:
        print_json(_checked(counts, checks))
    else:
        _print_checks(counts, checks)
    if any(each.blocking and not each.passed for each in checks):
        raise typer.Exit(1)


@scenario.command("load")
def load(
    name: Name = "",
    ingest: Annotated[
        bool,
        typer.Option("--ingest/--no-ingest", help="Ingest its runbooks and tickets now, or leave it to kb ingest."),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Load a scenario, as its assets do in Dagster; readers get it when it is whole and its checks passed.

    Its runbooks and tickets become articles of the knowledge base, which are ingested: exit code 1 if one of them
    failed.
    """
    from kb_pipeline.network.knowledge import write_articles
    from kb_pipeline.network.loading import load as load_stages

    settings = load_settings()
    folder = configured_scenario(settings, name)
    with closing(open_loader(settings, folder)) as loader:
        stages = load_stages(folder, settings.home_path, loader)
    checks = [each for stage in stages for each in stage.checks]
    if not as_json:
        _print_checks(stages[-1].counts, checks)
        err.print("loaded" if stages[-1].made else "nothing changed")
    written = write_articles(folder, settings.home_path)
    removed = remove_gone(settings, written.removed)
    tally = ingest_stale(settings, written.article_ids) if ingest else None
    if as_json:
        articles = {"articles": written.article_ids, "changed": written.changed, "removed": removed}
        failed = {result.article_id: str(result.error) for result in tally.failures} if tally else {}
        published = tally.published if tally else 0
        print_json(_checked(stages[-1].counts, checks) | articles | {"published": published, "failed": failed})
    elif written.article_ids:
        waiting = "" if ingest else "; kb ingest publishes them"
        err.print(
            f"{len(written.article_ids)} runbooks and tickets are articles ({len(written.changed)} of them new or "
            f"changed): {named(written.article_ids, 5)}{waiting}",
            soft_wrap=True,
        )
    if tally and tally.failures:
        raise typer.Exit(1)


@scenario.command("unload")
def unload(name: Name, as_json: AsJson = False) -> None:
    """Remove what was loaded of a scenario, the articles of its runbooks and tickets, and how well it was diagnosed.

    Its folder stays as it is.
    """
    from kb_pipeline.evaluation.history import forget_runs
    from kb_pipeline.network.knowledge import staged_ids

    settings = load_settings()
    was = loaded_version(settings, name)
    if not was:
        raise ScenarioError(f"the scenario {name!r} is not loaded")
    articles = staged_ids(settings.home_path, name)
    if settings.network in LOADERS:
        with closing(open_loader(settings, configured_scenario(settings, name))) as loader:
            loader.forget()
    forget_scenario(settings.home_path, name)
    forget_runs(settings, name)
    removed = remove_gone(settings, articles)
    if as_json:
        print_json({"name": name, "unloaded": was, "removed": removed})
    else:
        err.print(
            f"unloaded {escape(name)}; {counted(len(removed), 'article of it was', 'articles of it were')} removed"
        )


def investigate(
    alert: Annotated[
        str, typer.Argument(help="An alert, or a storm of them, or the file that has it; - reads stdin.")
    ] = "-",
    name: Annotated[
        str, typer.Option("--scenario", help="The scenario; default: the one whose elements it names, or KB_SCENARIO.")
    ] = "",
    brief: Annotated[bool, typer.Option("--brief", help="Print only the cause, and what was seen.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what broke in a network, and why, step by step."""
    text = _told(alert)
    if not text.strip() or len(text) > _MOST:
        raise ScenarioError(f"an alert has between 1 and {_MOST:,} characters")
    report = open_application(load_settings()).investigate(text, name, None if as_json or brief else err)
    if as_json:
        print_json(report)
        return
    summary = report.report.partition("\n## ")[0].removeprefix("# Situation report").strip()
    out.print(Markdown(summary if brief else report.report, hyperlinks=False))
    if brief:
        return
    out.print()
    for each in report.citations:
        path = " › ".join(each["heading_path"]) or each["title"]
        out.print(f"[bold]\\[Ref #{each['number']}][/] {escape(path)}", soft_wrap=True)
        out.print(f"  [dim]kb trace {escape(each['chunk_id'])}[/]", soft_wrap=True)


def _told(alert: str) -> str:
    """What was alerted: the argument itself, or what the file or the stream says that it names."""
    if alert == "-":
        return sys.stdin.read(_MOST + 1)
    if os.path.isfile(alert):  # noqa: PTH113 - a long alert is no path, which pathlib raises at
        with Path(alert).open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST + 1)
    return alert


def _checked(counts: dict[str, int], found: "list[NetworkCheck]") -> dict[str, object]:
    checks = [{"name": each.name, "passed": each.passed, "problem": each.problem} for each in found]
    return {"counts": counts, "checks": checks}


def _print_checks(counts: dict[str, int], found: "list[NetworkCheck]") -> None:
    err.print(", ".join(f"{rows:,} {name}" for name, rows in counts.items()))
    table = new_table("check", "outcome")
    for each in found:
        word = "passed" if each.passed else escape(each.problem)
        table.add_row(each.name, word if each.passed or each.blocking else f"warning: {word}")
    out.print(table)
