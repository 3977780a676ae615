"""``kb audit``: who asked, searched, opened and changed what, as the audit log has it."""

import sys
from datetime import date
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, new_table, out, print_json, when
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings
from kb_pipeline.store.audit import AuditLine, AuditLog, read_audit

_MOST_SHOWN = 100
"""Lines: some screens."""


def audit(
    articles: Annotated[
        list[str] | None, typer.Option("--article", metavar="ID", help="Only about this article; can be repeated.")
    ] = None,
    users: Annotated[
        list[str] | None, typer.Option("--user", metavar="ID", help="Only what this user did; can be repeated.")
    ] = None,
    since: Annotated[str, typer.Option(help="Only on this day (UTC) or later: 2026-05-31.")] = "",
    refused: Annotated[bool, typer.Option("--refused", help="Only what was refused.")] = False,
    most: Annotated[int, typer.Option(min=0, help="As many of the newest lines; 0 are all.")] = _MOST_SHOWN,
    as_json: AsJson = False,
) -> None:
    """Show who did what, the newest last. Exit code 1: lines are damaged, or cannot be read."""
    settings = load_settings()
    log = AuditLog(settings)
    problems, lines = [], []
    for line in read_audit(log.folder, _day(since)):
        if isinstance(line, str):
            problems.append(line)
        elif _is_wanted(line, articles or (), users or (), refused=refused):
            lines.append(line)
    shown = lines[-most:] if most else lines
    if as_json:
        print_json({"level": log.level, "lines": shown, "left_out": len(lines) - len(shown), "problems": problems})
    else:
        _print(shown)
        if len(shown) < len(lines):
            err.print(f"the newest {len(shown)} of {len(lines)} lines; --most 0 shows all")
        if log.level != "all":
            what = "nothing is recorded" if log.level == "off" else "only changes are recorded"
            err.print(f"[dim]{what} (KB_AUDIT={log.level})[/]")
        for problem in problems:
            err.print(f"[yellow]warning:[/] {escape(problem)}", soft_wrap=True)
    if problems:
        sys.exit(1)


def _day(since: str) -> str:
    try:
        return date.fromisoformat(since).isoformat() if since else ""
    except ValueError as exc:
        raise SettingsError(f"--since is {since[:40]!r}; write a day as 2026-05-31") from exc


def _is_wanted(
    line: AuditLine, articles: list[str] | tuple[()], users: list[str] | tuple[()], *, refused: bool
) -> bool:
    return (
        (not articles or not set(articles).isdisjoint(line.articles))
        and (not users or line.who in users)
        and (not refused or line.outcome == "refused")
    )


def _print(lines: list[AuditLine]) -> None:
    if not lines:
        err.print("no lines")
        return
    table = new_table("when", "who", "by", "what", "articles", "about")
    for line in lines:
        what = line.action if line.outcome == "done" else f"{line.action}, {line.outcome}"
        about = " ".join(filter(None, (line.about, line.text and f"“{line.text}”")))
        facts = (when(line.at), line.who or "-", line.via, what, ", ".join(line.articles), about)
        table.add_row(*(escape(_printable(fact)) for fact in facts))
    out.print(table)


def _printable(text: str) -> str:
    """Return a text without what could move a terminal's cursor: whoever asks chooses the words."""
    return "".join(char if char.isprintable() else "�" for char in text)
