"""``kb intake`` brings what lies elsewhere into the staging folder: it declares sources, and takes them in."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from inspect import Parameter, Signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NoReturn, Union, get_args, get_origin

import typer
import typer.main
from pydantic.fields import FieldInfo
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from typer.core import TyperGroup

from kb_pipeline.cli.console import AsJson, err, named, new_table, out, print_json, when
from kb_pipeline.cli.publishing import ingest_stale, remove_gone
from kb_pipeline.errors import IntakeError, KnowledgeBaseError
from kb_pipeline.intake.base import Options
from kb_pipeline.intake.declared import KINDS, add_source, open_source, options_of, read_sources
from kb_pipeline.intake.running import Taken, forget, preview, state_path
from kb_pipeline.intake.state import IntakeState
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.wording import counted

intake = typer.Typer(
    help="Bring what you have: manuals, repositories, websites, wikis, help centers and mail become articles.",
    no_args_is_help=True,
)


class _Kinds(TyperGroup):
    """A command for each kind of source, made when it is asked for: the HTTP clients of some kinds load slowly."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  (of Typer's own copy of click)
        return list(KINDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        if cmd_name not in KINDS:
            return None
        kind = options_of(cmd_name)
        one = typer.Typer(add_completion=False, rich_markup_mode="rich")
        one.command(cmd_name, help=kind.__doc__)(_adder(cmd_name, kind))
        return typer.main.get_command(one)


add = typer.Typer(
    cls=_Kinds, help="Declare a source in KB_INTAKE, take it in, and ingest its articles.", no_args_is_help=True
)
intake.add_typer(add, name="add")
KEYWORD = Parameter.KEYWORD_ONLY
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these sources; default: all.")]
Name = Annotated[str, typer.Option(help="Its articles' ids begin with it; default: from where it is.")]
Ingest = Annotated[
    bool,
    typer.Option("--ingest/--no-ingest", help="Ingest the articles now, or leave it to kb ingest and the sensor."),
]
_READ_BY = "read by {} only; who asks on this machine is one of them with KB_LOCAL_USER={}"
_MOST_REASONS = 10
"""Reasons that are shown; of more, the others are counted."""


def _adder(called: str, kind: type[Options]) -> Callable[..., None]:
    """The command that declares a source of this kind, and takes it in; what the kind has is an option each.

    The first says where the source is, and is an argument. Mappings are only written into the file.
    """
    place = next(name for name in kind.__annotations__ if name != "kind")
    order = dict.fromkeys([*kind.__annotations__, *kind.model_fields])
    fields = [(name, kind.model_fields[name]) for name in order if name != "kind"]

    def add_source(name: str, ingest: bool, as_json: bool, **given: object) -> None:
        _add(name or kind.name_for(given), {"kind": called, **given}, ingest=ingest, as_json=as_json)

    parameters = [_parameter(name, field, is_place=name == place) for name, field in fields if not _is_mapping(field)]
    common = (("name", Name, ""), ("ingest", Ingest, True), ("as_json", AsJson, False))
    parameters += [Parameter(name, KEYWORD, default=default, annotation=told) for name, told, default in common]
    add_source.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return add_source


def _is_mapping(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is Mapping


def _parameter(name: str, field: FieldInfo, *, is_place: bool) -> Parameter:
    told = field.annotation
    first = get_args(told)[0] if get_origin(told) in (Union, UnionType) else told
    is_list = get_origin(first) is tuple
    kept: Any = list[str] if is_list else first if first in (bool, float, int) else str
    about = escape(field.description or "") + (" Can be repeated." if is_list else "")
    if is_place:
        said = typer.Argument(help=about, metavar=name.upper() if field.is_required() else f"[{name.upper()}]")
    else:
        word = re.sub("ies$", "y", name).removesuffix("s") if is_list else name
        flag = f"--{word.replace('_', '-')}"
        said = typer.Option(f"{flag}/--no-{flag[2:]}" if kept is bool else flag, help=about)
    default = Parameter.empty if is_place and field.is_required() else None
    return Parameter(
        name, KEYWORD, default=default, annotation=Annotated[kept if default is Parameter.empty else kept | None, said]
    )


def _add(name: str, values: Mapping[str, object], *, ingest: bool, as_json: bool) -> NoReturn:
    """Declare what was given of a source, and take it in."""
    settings = load_settings()
    given = {key: value for key, value in values.items() if value not in (None, [], "")}
    if path := given.get("path"):
        given["path"] = str(Path(str(path)).expanduser().absolute())
    options = add_source(settings, name, given)
    err.print(f"declared {name} in {settings.intake}", markup=False, soft_wrap=True)
    _run(settings, {name: options}, confirmed=False, ingest=ingest, as_json=as_json)


@intake.command("run")
def run_(
    names: Names = None,
    confirm_mass_removal: Annotated[
        bool,
        typer.Option("--confirm-mass-removal", help="Remove the articles whose items are gone, however many."),
    ] = False,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in what is new or changed, and remove what is gone.

    Exit code 1: items were refused, articles failed, or so many are missing that none was removed.
    """
    settings = load_settings()
    _run(settings, _chosen(settings, names), confirmed=confirm_mass_removal, ingest=ingest, as_json=as_json)


@intake.command("preview")
def preview_(names: Names = None, as_json: AsJson = False) -> None:
    """List the sources and say what a run would do; nothing is changed."""
    settings = load_settings()
    chosen = _chosen(settings, names)
    previews = [preview(open_source(name, options, settings), settings) for name, options in chosen.items()]
    if as_json:
        print_json([asdict(taken) for taken in previews])
        return
    for taken in previews:
        _print(taken)


@intake.command("status")
def status(as_json: AsJson = False) -> None:
    """Show the declared sources: articles, what is left out, what is refused and why, the last run.

    Exit code 1: something is refused.
    """
    settings = load_settings()
    rows = [_status_of(settings, name, options) for name, options in read_sources(settings).items()]
    if as_json:
        print_json(rows)
    else:
        table = new_table("source", "kind", "articles", "left out", "refused", "last run")
        for row in rows:
            table.add_row(*(escape(str(row[key])) for key in ("source", "kind", "articles", "left_out")),
                          str(len(row["refused"])), _last(row))  # fmt: skip
        out.print(table)
        for row in rows:
            _print_left_out(row["why_left_out"])
            _print_reasons(row["refused"])
    sys.exit(1 if any(row["refused"] for row in rows) else 0)


@intake.command("forget")
def forget_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A source that KB_INTAKE does not declare any more.")],
    as_json: AsJson = False,
) -> None:
    """Remove the articles of a source that you took out of KB_INTAKE, from the staging folder and from readers."""
    settings = load_settings()
    if name in read_sources(settings):
        raise IntakeError(f"{settings.intake} declares {name}; remove it there first")
    removed = forget(name, settings)
    remove_gone(settings, removed)
    if as_json:
        print_json({"source": name, "removed": removed})
    else:
        err.print(f"removed {counted(len(removed), 'article')} of {escape(name)}: {named(removed, 5)}", soft_wrap=True)


def _status_of(settings: Settings, name: str, options: Options) -> dict[str, Any]:
    path = state_path(settings, name)
    row: dict[str, Any] = {"source": name, "kind": options.kind, "articles": 0, "left_out": 0}
    row |= {"why_left_out": [], "refused": {}}
    if not path.exists():
        return row | {"last_run": None, "summary": ""}
    with closing(IntakeState(path)) as state:
        counts, last = state.counts(), state.last_run()
        why = [each.model_dump() for each in state.why_left_out()]
        row |= {"articles": counts.articles, "left_out": sum(each["count"] for each in why), "why_left_out": why}
        row["refused"] = {each.item.id: each.note for each in state.in_trouble()}
    return row | {"last_run": last[0] if last else None, "summary": last[1] if last else ""}


def _last(row: Mapping[str, Any]) -> str:
    return f"{when(row['last_run'])}: {row['summary']}" if row["last_run"] else "never; run: kb intake run"


def _chosen(settings: Settings, names: Sequence[str] | None) -> dict[str, Options]:
    declared = read_sources(settings)
    if not declared:
        raise IntakeError(f"{settings.intake} declares no source; run: kb intake add folder PATH")
    if unknown := [name for name in names or () if name not in declared]:
        raise IntakeError(f"{settings.intake} declares no {', '.join(unknown)}; there are: {', '.join(declared)}")
    return {name: declared[name] for name in names or declared}


def _run(
    settings: Settings, sources: Mapping[str, Options], *, confirmed: bool, ingest: bool, as_json: bool
) -> NoReturn:
    taken: list[Taken] = []
    failed: dict[str, str] = {}
    for name, options in sources.items():
        try:
            with err.status(f"taking in {name}") as line:
                taken.append(_take_in(settings, name, line, confirmed=confirmed))
        except KnowledgeBaseError as exc:  # the other sources are taken in
            failed[name] = str(exc)
            err.print(f"[red]failed:[/] {escape(name)}: {escape(str(exc))}", soft_wrap=True)
            continue
        _print(taken[-1], to=err)
        if options.readers and taken[-1].new:
            err.print(
                f"  {_READ_BY.format(named(options.readers, 5), options.readers[0])}", markup=False, soft_wrap=True
            )
    ids = [article_id for each in taken for article_id in (*each.new, *each.changed)]
    gone = [article_id for each in taken for article_id in each.gone]
    removed = remove_gone(settings, gone) if ingest and gone else []
    tally = ingest_stale(settings, ids) if ingest and ids else None
    if as_json:
        problems = {result.article_id: str(result.error) for result in tally.failures} if tally else {}
        print_json({"sources": [asdict(each) for each in taken], "failed": failed, "removed": removed,
                    "published": tally.published if tally else 0, "failing": problems})  # fmt: skip
    sys.exit(1 if failed or any(each.needs_attention for each in taken) or (tally and tally.failures) else 0)


def _take_in(settings: Settings, name: str, line: Status, *, confirmed: bool) -> Taken:
    """Take in a source by the job that Dagster has for it, so that its history knows of it."""
    from kb_pipeline.cli.run_job import run_job
    from kb_pipeline.defs.intake import WATCHER, job_of, sources_alone

    watcher = _Watcher(name, line)
    config = {"confirm_mass_removal": confirmed}
    run = run_job(settings, job_of(name), config, definitions=sources_alone, resources={WATCHER: watcher})
    if watcher.result is None:
        raise KnowledgeBaseError(run.error)
    return watcher.result


class _Watcher:
    """Shows how many items were fetched, and keeps what a run did."""

    def __init__(self, name: str, line: Status) -> None:
        self.result: Taken | None = None
        self._name, self._line = name, line

    def fetched(self, number: int) -> None:
        self._line.update(f"taking in {self._name}: {number:,} items fetched")

    def taken(self, taken: Taken) -> None:
        self.result = taken


def _print(taken: Taken, to: Console = out) -> None:
    to.print(f"[bold]{escape(taken.source)}[/]  {taken}", soft_wrap=True)
    for word, ids in (("new", taken.new), ("changed", taken.changed), ("gone", taken.gone)):
        if ids:
            to.print(f"  {word}: {named(ids, 5)}", soft_wrap=True)
    if taken.guard:
        to.print(f"  [yellow]{escape(taken.guard)}[/]", soft_wrap=True)
    _print_left_out([each.model_dump() for each in taken.why_left_out], to)
    _print_reasons(taken.refused, to)


def _print_left_out(why: Sequence[Mapping[str, Any]], to: Console = out) -> None:
    for each in why[:_MOST_REASONS]:
        to.print(f"  left out: {each['count']:,}, as {escape(each['reason'])}: {_examples(each)}", soft_wrap=True)


def _examples(why: Mapping[str, Any]) -> str:
    return escape(why["example"]) + (", …" if why["count"] > 1 else "")


def _print_reasons(refused: Mapping[str, str], to: Console = out) -> None:
    for reason in list(refused.values())[:_MOST_REASONS]:
        to.print(f"  [yellow]refused:[/] {escape(reason)}", soft_wrap=True)
    if len(refused) > _MOST_REASONS:
        to.print(f"  … {len(refused) - _MOST_REASONS:,} more: kb intake status --json")
