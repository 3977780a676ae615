"""``kb gaps``: what was asked and not answered; who sees to it, and what is no gap."""

from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, new_table, out, print_facts, print_json, when
from kb_pipeline.cli.reviewing import reviewer
from kb_pipeline.errors import SettingsError
from kb_pipeline.evaluation.gap_decisions import GapDecision, decide, find_gap, load_decisions
from kb_pipeline.evaluation.gaps import Gap, load_gaps
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.store.audit import os_user
from kb_pipeline.wording import counted

gaps = typer.Typer(help="Show what was asked and not answered, assign and dismiss it.")
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a gap, as kb gaps lists it.")]
_NOT_SHOWN = {"wordings", "recent", "whole"}


@gaps.callback(invoke_without_command=True)
def list_all(
    context: typer.Context,
    dismissed: Annotated[bool, typer.Option("--dismissed", help="Those that were dismissed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List, show, assign and dismiss knowledge gaps. Without a command they are listed, most asked first.

    They are looked for every night, by the job find_knowledge_gaps.
    """
    if context.invoked_subcommand:
        return
    settings = load_settings()
    found, decisions = load_gaps(settings), load_decisions(settings)
    decided = [(gap, decisions.get(gap.id) or GapDecision(id=gap.id)) for gap in (found.gaps if found else ())]
    listed = [(gap, decision) for gap, decision in decided if decision.dismisses(gap) == dismissed]
    if as_json:
        print_json({"made_at": found and found.made_at, "gaps": [_json(*each) for each in listed]})
        return
    if listed:
        table = new_table("question", "asked", "first", "last", "nearest article", "assigned to", "id")
        for gap, decision in listed:
            times = when(gap.first_asked or gap.last_asked), when(gap.last_asked)
            facts = (gap.question or "-", str(gap.count), *times, gap.article_id, decision.assigned_to, gap.id)
            table.add_row(*map(escape, facts))
        out.print(table)
    if found is None:
        err.print("nobody has looked for gaps yet; the job find_knowledge_gaps does so every night")
    else:
        what = "dismissed gap" if dismissed else "gap"
        err.print(f"{counted(len(listed), what)}, as of {when(found.made_at)}")


@gaps.command()
def show(
    gap_id: Id,
    whole: Annotated[
        bool, typer.Option("--whole", help="The last question as it was written, if that is kept.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a gap, and what was decided about it."""
    workspace = open_workspace(load_settings())
    gap = find_gap(workspace.settings, gap_id)
    decision = load_decisions(workspace.settings).get(gap_id) or GapDecision(id=gap_id)
    if whole:
        workspace.audit.add("open", os_user(), "terminal", about=f"{gap_id} whole")
    if as_json:
        print_json({**_json(gap, decision), **({"whole": gap.whole} if whole else {})})
        return
    out.print(f"[bold]{escape(gap.question or 'A question without words')}[/]", soft_wrap=True)
    reasons = ", ".join(f"{number} {reason}" for reason, number in gap.reasons.items())
    rows = {
        "asked": f"{counted(gap.count, 'time')} ({reasons})",
        "first": when(gap.first_asked or gap.last_asked),
        "last": when(gap.last_asked),
        "near": gap.article_id,
        "assigned to": decision.assigned_to,
        "dismissed": decision.dismissed_at and f"{when(decision.dismissed_at)}: {decision.reason}",
        "decided by": decision.decided_by,
        "whole": (gap.whole or "it is not kept (KB_WHOLE_QUESTIONS)") if whole else "",
    }
    print_facts(rows)


@gaps.command()
def assign(
    gap_id: Id,
    to: Annotated[str, typer.Argument(metavar="USER", help="Who sees to it; '' is nobody.")],
    as_json: AsJson = False,
) -> None:
    """Assign a gap to a person; one that was dismissed is open again."""
    _decide(gap_id, " ".join(to.split()), "", as_json=as_json)


@gaps.command()
def dismiss(
    gap_id: Id, reason: Annotated[str, typer.Option(help="Why it is no gap.")], as_json: AsJson = False
) -> None:
    """Say that it is no gap, and why. It returns when it was asked three times again."""
    if not reason.strip():
        raise SettingsError("--reason is empty; say why it is no gap")
    _decide(gap_id, "", " ".join(reason.split()), as_json=as_json)


@gaps.command()
def reopen(gap_id: Id, as_json: AsJson = False) -> None:
    """Let a gap that was dismissed be one again."""
    _decide(gap_id, "", "", as_json=as_json)


def _decide(gap_id: str, assigned_to: str, reason: str, *, as_json: bool) -> None:
    workspace = open_workspace(load_settings())
    by = reviewer(workspace.settings)
    before = load_decisions(workspace.settings).get(gap_id)
    whose = assigned_to or (before.assigned_to if before and reason else "")
    decision = decide(workspace.settings, gap_id, by, assigned_to=whose, is_dismissed=bool(reason), reason=reason)
    what = "dismissed" if reason else f"assigned to {assigned_to}" if assigned_to else "open"
    workspace.audit.add("decide", by, "terminal", about=f"{gap_id} {what}")
    if as_json:
        print_json(_json(find_gap(workspace.settings, gap_id), decision))
    else:
        out.print(f"{gap_id} is {escape(what)}", soft_wrap=True)


def _json(gap: Gap, decision: GapDecision) -> dict[str, object]:
    """A gap as programs get it, with what was decided about it."""
    decided = decision.model_dump(exclude={"id", "wordings"})
    return {**gap.model_dump(exclude=_NOT_SHOWN), **decided, "is_dismissed": decision.dismisses(gap)}
