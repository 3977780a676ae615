"""``kb intake`` brings what lies elsewhere into the staging folder: it declares sources, and takes them in."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from kb_pipeline.cli.console import AsJson, err, named, new_table, out, print_json, when
from kb_pipeline.cli.publishing import ingest_stale, remove_gone
from kb_pipeline.errors import IntakeError, KnowledgeBaseError
from kb_pipeline.intake.base import Options
from kb_pipeline.intake.declared import add_source, name_of, name_of_site, open_source, read_sources
from kb_pipeline.intake.running import Taken, forget, preview, state_path
from kb_pipeline.intake.state import IntakeState
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.wording import counted

intake = typer.Typer(
    help="Bring what you have: manuals, repositories, websites, wikis, help centers and mail become articles.",
    no_args_is_help=True,
)
add = typer.Typer(help="Declare a source in KB_INTAKE, take it in, and ingest its articles.", no_args_is_help=True)
intake.add_typer(add, name="add")

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these sources; default: all.")]
Name = Annotated[str, typer.Option(help="Its articles' ids begin with it; default: from the path.")]
Url = Annotated[str, typer.Option(help="Where the same tree is published; citations lead there.")]
Readers = Annotated[list[str] | None, typer.Option(help="User or group that may read the articles; can be repeated.")]
Include = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Take in only paths or titles like this; can be repeated.")
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Leave out paths or titles like this; can be repeated.")
]
Ingest = Annotated[
    bool,
    typer.Option("--ingest/--no-ingest", help="Ingest the articles now, or leave it to kb ingest and the sensor."),
]
_READ_BY = "read by {} only; who asks on this machine is one of them with KB_LOCAL_USER={}"
Chapters = Annotated[
    str,
    typer.Option(metavar="h1|h2|h3", help="Cut each page at its headings down to this level; default: none is cut."),
]
_MOST_REASONS = 10
"""Reasons that are shown; of more, the others are counted."""


@add.command("folder")
def add_folder(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder of pages and documents, or a ZIP of one.")],
    name: Name = "",
    url: Url = "",
    chapters: Chapters = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in a tree of pages, documents and pictures: a built manual, a wiki's dump, an export."""
    given = {"kind": "folder", "path": path, "url": url, "readers": reader, "include": include, "exclude": exclude}
    given["chapters"] = chapters
    _add(name or name_of(path), given, ingest=ingest, as_json=as_json)


@add.command("git")
def add_git(
    repository: Annotated[str, typer.Argument(metavar="REPOSITORY", help="Its address, or its folder.")],
    branch: Annotated[str, typer.Option(help="A branch or tag; default: the repository's own.")] = "HEAD",
    folder: Annotated[str, typer.Option(help="Only this folder of it: docs")] = "",
    name: Name = "",
    url: Url = "",
    chapters: Chapters = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the pages, documents and pictures of a repository, as a branch has them."""
    own = name or name_of(Path(repository.removesuffix(".git").rpartition(":")[2]))
    given = {"kind": "git", "repository": repository, "branch": branch, "folder": folder, "url": url}
    given["chapters"] = chapters
    _add(own, {**given, "readers": reader, "include": include, "exclude": exclude}, ingest=ingest, as_json=as_json)


@add.command("website")
def add_website(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where it begins; all below it is taken in.")],
    documents: Annotated[bool, typer.Option("--documents", help="Also documents that its pages lead to.")] = False,
    rate: Annotated[
        float | None, typer.Option(help="Most requests in a second; more only for a server of your own; default: 5.")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="It may be on this machine or in a private network.")
    ] = False,
    name: Name = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the pages of a website below an address, as robots.txt allows, and follow their changes."""
    given = {"kind": "website", "url": url, "documents": documents, "allow_private": allow_private, "rate": rate}
    _add(
        name or name_of_site(url),
        {**given, "readers": reader, "include": include, "exclude": exclude},
        ingest=ingest,
        as_json=as_json,
    )


@add.command("mediawiki")
def add_mediawiki(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of any page of the wiki, or of its api.php.")],
    user: Annotated[str, typer.Option(help="The user of a bot password; the password is in KB_INTAKE_PASSWORDS.")] = "",
    namespace: Annotated[list[str] | None, typer.Option(help="Name or number; can be repeated.")] = None,
    name: Name = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the pages of a MediaWiki with their pictures; without readers, nobody reads what needs a login."""
    own = name or name_of(Path(urlsplit(url).hostname or url))
    given = {"kind": "mediawiki", "url": url, "user": user, "namespaces": namespace}
    _add(own, {**given, "readers": reader, "include": include, "exclude": exclude}, ingest=ingest, as_json=as_json)


@add.command("confluence")
def add_confluence(
    url: Annotated[str, typer.Argument(metavar="URL", help="The site: https://example.atlassian.net")],
    user: Annotated[str, typer.Option(help="Whose API token is in KB_INTAKE_PASSWORDS.")] = "",
    space: Annotated[list[str] | None, typer.Option(help="Key of a space; can be repeated.")] = None,
    name: Name = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the pages of a Confluence Cloud with their attachments, for those who may read them there."""
    given = {
        "kind": "confluence",
        "url": url,
        "user": user,
        "spaces": space,
        "readers": reader,
        "include": include,
        "exclude": exclude,
    }
    _add(name or name_of_site(url), given, ingest=ingest, as_json=as_json)


@add.command("zendesk")
def add_zendesk(
    url: Annotated[str, typer.Argument(metavar="URL", help="The account: https://example.zendesk.com")],
    user: Annotated[str, typer.Option(help="Whose API token is in KB_INTAKE_PASSWORDS.")] = "",
    locale: Annotated[str, typer.Option(help="The language that is taken in; default: en-us.")] = "",
    name: Name = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the published articles of a Zendesk help center; what its segments restrict is hidden until declared."""
    given = {
        "kind": "zendesk",
        "url": url,
        "user": user,
        "locale": locale,
        "readers": reader,
        "include": include,
        "exclude": exclude,
    }
    _add(name or name_of_site(url), given, ingest=ingest, as_json=as_json)


@add.command("sharepoint")
def add_sharepoint(
    url: Annotated[str, typer.Argument(metavar="URL", help="The site: https://example.sharepoint.com/sites/handbook")],
    library: Annotated[list[str] | None, typer.Option(help="Name of a document library; can be repeated.")] = None,
    name: Name = "",
    reader: Readers = None,
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in the libraries and pages of a SharePoint site, for those who may read them there, as AZURE_* signs in."""
    given = {
        "kind": "sharepoint",
        "url": url,
        "libraries": library,
        "readers": reader,
        "include": include,
        "exclude": exclude,
    }
    _add(name or name_of_site(url), given, ingest=ingest, as_json=as_json)


@add.command("mail")
def add_mail(
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="A folder of .eml, mbox or Maildir, or one mbox.")
    ] = None,
    server: Annotated[str, typer.Option(help="Instead of a path, an IMAP server: imap.example.org")] = "",
    user: Annotated[str, typer.Option(help="Who signs in there; the password is in KB_INTAKE_PASSWORDS.")] = "",
    sign_in: Annotated[
        str, typer.Option(help="With what: password, token (both in KB_INTAKE_PASSWORDS), or azure (AZURE_*).")
    ] = "",
    folder: Annotated[
        list[str] | None, typer.Option(help="Folder there; * for any letters; can be repeated; default: INBOX.")
    ] = None,
    reader: Readers = None,
    mask: Annotated[bool, typer.Option(help="Replace addresses of mail by ***.")] = False,
    name: Name = "",
    include: Include = None,
    exclude: Exclude = None,
    ingest: Ingest = True,
    as_json: AsJson = False,
) -> None:
    """Take in mail: an article for each thread and each attached document; without readers, nobody reads them."""
    own = name or (name_of(path) if path else name_of_site(server))
    given = {"kind": "mail", "path": path, "server": server, "user": user, "folders": folder, "mask": mask}
    given["sign_in"] = sign_in
    _add(own, {**given, "readers": reader, "include": include, "exclude": exclude}, ingest=ingest, as_json=as_json)


def _add(name: str, values: Mapping[str, object], *, ingest: bool, as_json: bool) -> NoReturn:
    """Declare what was given of a source, and take it in."""
    settings = load_settings()
    given = {key: value for key, value in values.items() if value}
    if isinstance(path := given.get("path"), Path):
        given["path"] = str(path.expanduser().absolute())
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
