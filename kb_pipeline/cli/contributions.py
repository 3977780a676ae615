"""``kb contribute`` hands in a contribution; ``kb contributions`` lists, shows, accepts and rejects them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import click
import typer
from rich.markdown import Markdown
from rich.markup import escape
from rich.text import Text

from kb_pipeline.cli.console import AsJson, diff_style, err, new_table, out, print_facts, print_json, when
from kb_pipeline.cli.reviewing import reviewer
from kb_pipeline.contributions import open_queue
from kb_pipeline.contributions.base import STATES, TYPES, Contribution
from kb_pipeline.contributions.content import MOST_BYTES, read_content
from kb_pipeline.contributions.neighbours import SAME
from kb_pipeline.contributions.proposing import Proposal, ProposalPreview, preview
from kb_pipeline.contributions.review import Review, is_for_another, readers_in, titles_in
from kb_pipeline.errors import ContributionError, SettingsError
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.store.audit import os_user

contributions = typer.Typer(help="List, show, accept and reject contributions.", no_args_is_help=False)

Id = Annotated[str, typer.Argument(metavar="ID", help="The contribution's id; kb contributions lists them.")]
_NOT_SHOWN = {"embedding", "embedding_model", "commented_by"}
_TYPES = ", ".join(TYPES)


def contribute(
    service: Annotated[str, typer.Option(help="What it is about, and the id of its article: cosmos-db, key-vault.")],
    description: Annotated[str, typer.Option(help="What it says, in a line.")],
    file: Annotated[Path, typer.Option(help="File with the content: Markdown or text, UTF-8, at most 256 KB.")],
    draft: Annotated[bool, typer.Option("--draft", help="Show what would be handed in, and write nothing.")] = False,
    contribution_type: Annotated[str, typer.Option("--type", help=f"{_TYPES}.")] = "Pitfall",
    section: Annotated[str, typer.Option(help="Section of the article it belongs to; default: by its type.")] = "",
    as_json: Annotated[
        bool, typer.Option("--json", "-j", help="Print one JSON document on stdout, for programs.")
    ] = False,
) -> None:
    """Propose knowledge: it waits for a reviewer, who puts it into the staging folder."""
    workspace = open_workspace(load_settings())
    queue = open_queue(workspace.settings)
    proposal = Proposal(
        service, description, _content(file), contribution_type, section, contributed_by=os_user(), source="manual"
    )
    seen = preview(workspace, queue, proposal)
    if not draft:
        queue.add(seen.contribution)
        workspace.audit.add("propose", os_user(), "terminal", articles=[service], about=seen.contribution.id)
    if as_json:
        print_json(_preview_json(seen, draft=draft))
        return
    _print_preview(seen)
    contribution = seen.contribution
    if draft:
        out.print(f"\n{escape(contribution.content)}", soft_wrap=True, highlight=False)
        err.print("a draft: nothing was handed in")
    else:
        out.print(f"[green]✓[/] handed in as [bold]{contribution.id}[/]", soft_wrap=True)
        err.print(f"[dim]kb contributions show {contribution.id}[/]", soft_wrap=True)


def _content(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
            size = file.stat().st_size
    except OSError as exc:
        raise SettingsError(f"--file {file} cannot be read ({exc.strerror}); name a file with the content") from exc
    if size > MOST_BYTES:
        raise ContributionError(f"{file} has {size:,} bytes; a contribution has at most {MOST_BYTES:,}")
    return read_content(file.name, data)


def _preview_json(seen: ProposalPreview, *, draft: bool) -> dict[str, object]:
    return {
        **seen.contribution.model_dump(exclude={*_NOT_SHOWN, "decision"}),
        "state": "draft" if draft else "pending",
        "is_new_article": seen.is_new_article,
        "is_new_section": seen.is_new_section,
        "is_known": seen.neighbours.is_known,
        "duplicates": [double.model_dump() for double in seen.neighbours.doubles],
    }


def _print_preview(seen: ProposalPreview) -> None:
    contribution = seen.contribution
    out.print(f"[bold]{escape(contribution.description)}[/]", soft_wrap=True)
    out.print(f"{contribution.type} for {escape(seen.place)}", soft_wrap=True)
    if seen.neighbours.nearest:
        out.print("nearest passages")
    for passage in seen.neighbours.nearest:
        where = f"{passage.article_id} › {passage.section or passage.title}"
        out.print(f"  {passage.similarity:.2f}  {escape(where)}  [dim]{escape(passage.chunk_id)}[/]", soft_wrap=True)
    if seen.neighbours.is_known:
        err.print(f"[yellow]warning:[/] a published passage says about the same (similarity {SAME} or more)")
    for double in seen.neighbours.doubles:
        err.print(
            f"[yellow]warning:[/] {double.id} ({double.state}) says about the same: {escape(double.description)}",
            soft_wrap=True,
        )


@contributions.callback(invoke_without_command=True)
def list_all(
    context: typer.Context,
    state: Annotated[str, typer.Option(help=f"Only those in this state: {', '.join(STATES)}.")] = "",
    as_json: AsJson = False,
) -> None:
    """List, show, accept and reject contributions. Without a command they are listed, the newest first."""
    if context.invoked_subcommand:
        return
    if state and state not in STATES:
        raise SettingsError(f"--state is {state[:40]!r}; it must be one of: {', '.join(STATES)}")
    _, review = _opened()
    read = review.read_all()
    for damage in read.damages:
        err.print(f"[red]{escape(damage)}[/]", soft_wrap=True)
    listed = read.of(next((each for each in STATES if each == state), None))
    if as_json:
        print_json([_json(one) for one in listed])
        return
    table = new_table("id", "state", "type", "service", "description", "by", "on")
    for one in listed:
        by = one.contributed_by or one.source
        facts = (one.id, one.state, one.type, one.service, one.description, by, when(one.contributed_at))
        table.add_row(*map(escape, facts))
    if listed:
        out.print(table)
    err.print(_counts(listed) if listed else "no contributions")


def _counts(found: Iterable[Contribution]) -> str:
    states = [one.state for one in found]
    return ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)


@contributions.command()
def show(contribution_id: Id, as_json: AsJson = False) -> None:
    """Show a contribution, where it would go, and what accepting it would change."""
    workspace, review = _opened()
    contribution = review.get(contribution_id)
    diff, problem = "", ""
    if contribution.state == "pending":
        try:
            diff = review.change(contribution, os_user()).diff
        except ContributionError as exc:
            problem = str(exc)
    if as_json:
        print_json({**_json(contribution), "content": contribution.content, "diff": diff, "problem": problem})
        return
    _print_contribution(contribution)
    out.print()
    out.print(Markdown(contribution.content))
    if diff:
        out.print(f"\n[bold]what accepting changes in {escape(str(workspace.staging.root))}[/]", soft_wrap=True)
    for line in diff.splitlines():
        out.print(Text(line, diff_style(line)), soft_wrap=True)
    if problem:
        err.print(f"[yellow]it cannot be accepted as it is:[/] {escape(problem)}", soft_wrap=True)
    if contribution.state == "pending":
        err.print(
            f"[dim]kb contributions accept {contribution.id}   kb contributions reject {contribution.id} --reason …[/]",
            soft_wrap=True,
        )


def _print_contribution(contribution: Contribution) -> None:
    decision, upload = contribution.decision, contribution.upload
    place = f"{contribution.article_id}, section {contribution.target_section or '(a whole article)'}"
    rows = {
        "state": contribution.state,
        "type": contribution.type,
        "service": contribution.service,
        "for": place,
        "by": f"{contribution.contributed_by or 'the service'} ({contribution.source})",
        "on": when(contribution.contributed_at),
        "sha256": contribution.content_hash,
    }
    if upload:
        failed = [f"{check.name}: {check.problem}" for check in upload.checks if check.problem]
        rows |= {
            "uploaded": f"{upload.name}, {upload.size:,} bytes",
            "readers": ", ".join(upload.readers) or "everybody",
            "topics": ", ".join(upload.topics),
            "checks": "; ".join((*failed, *upload.warnings)) or f"all {len(upload.checks)} passed",
        }
    if decision and contribution.state != "pending":
        rows[contribution.state] = f"by {decision.by}, {when(decision.at)}"
        rows |= {"reason": decision.reason} if decision.reason else {"file": decision.file}
    out.print(f"[bold]{escape(contribution.description)}[/]", soft_wrap=True)
    print_facts(rows)
    for passage in contribution.nearest:
        out.print(
            f"  [dim]near[/]  {passage.similarity:.2f} {escape(passage.article_id)} › "
            f"{escape(passage.section or passage.title)}",
            soft_wrap=True,
        )


@contributions.command()
def accept(
    contribution_id: Id,
    section: Annotated[str, typer.Option(help="Put it into this section instead.")] = "",
    edit: Annotated[bool, typer.Option("--edit", help="Edit the content first, in $EDITOR.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write a patch to this file instead of changing the staging folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a contribution into the staging folder; the next ingest publishes it."""
    workspace, review = _opened()
    by = reviewer(workspace.settings)
    if is_for_another(review.get(contribution_id), workspace.settings, (by,), is_local=True):
        raise ContributionError(
            f"{by} proposed {contribution_id}, so another reviewer must accept it; KB_ACCEPT_OWN=true allows it"
        )
    content = _edited(review.get(contribution_id)) if edit else None
    accepted = review.accept(contribution_id, by, section=section, content=content, patch=output)
    into = [accepted.decision.article_id] if accepted.decision else []
    workspace.audit.add("accept", by, "terminal", articles=into, about=contribution_id)
    if as_json:
        print_json(_json(accepted))
        return
    file = accepted.decision.file if accepted.decision else ""
    out.print(f"[green]✓[/] {accepted.id} is in {escape(file)}", soft_wrap=True)
    if not output and accepted.decision:
        err.print(f"[dim]kb ingest --article {escape(accepted.decision.article_id)}[/]", soft_wrap=True)


def _edited(contribution: Contribution) -> str:
    edited = click.edit(contribution.content, extension=".md")
    if edited is None:
        raise ContributionError("the editor saved nothing, so nothing was accepted; save the content, or omit --edit")
    return edited


@contributions.command()
def reject(
    contribution_id: Id,
    reason: Annotated[str, typer.Option(help="Why; whoever proposed it may read it.")],
    as_json: AsJson = False,
) -> None:
    """Reject a contribution; it is kept, with the reason."""
    workspace, review = _opened()
    by = reviewer(workspace.settings)
    rejected = review.reject(contribution_id, by, reason)
    workspace.audit.add("reject", by, "terminal", articles=[rejected.service], about=contribution_id)
    if as_json:
        print_json(_json(rejected))
    else:
        out.print(f"{rejected.id} was rejected", soft_wrap=True)


def _opened() -> tuple[Workspace, Review]:
    workspace = open_workspace(load_settings())
    queue, layout = open_queue(workspace.settings), workspace.layout
    return workspace, Review(queue, workspace.staging, title_of=titles_in(layout), readers_of=readers_in(layout))


def _json(contribution: Contribution) -> dict[str, object]:
    """A contribution as programs get it, without its content."""
    return {
        **contribution.model_dump(exclude={*_NOT_SHOWN, "content", "decision"}),
        "state": contribution.state,
        "decision": contribution.decision and contribution.decision.model_dump(exclude={"content"}),
    }
