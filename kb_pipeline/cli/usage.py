"""``kb usage``: what was asked, what became of it, what it cost, and which articles no answer used."""

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from kb_pipeline.application import open_application
from kb_pipeline.cli.console import AsJson, out, print_json, print_table, when
from kb_pipeline.evaluation.gaps import DAYS, load_gaps
from kb_pipeline.evaluation.usage import UsageOfTime, UsageReport
from kb_pipeline.settings import load_settings
from kb_pipeline.wording import counted

_MOST_DAYS = 14
_MOST_SHOWN = 10
"""Topics and articles that are named: with the weeks, a screen."""


def usage(
    by: Annotated[Literal["week", "day"], typer.Option(help="What a row of the first table counts.")] = "week",
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print everything as one table of CSV, for spreadsheets.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Count what was asked, what became of it and what it cost, and name the articles that no answer used.

    It is counted from the conversations of the last twelve weeks, without a word of a person.
    """
    settings = load_settings()
    report = open_application(settings).usage()
    if as_csv:
        sys.stdout.write(report.csv())
    elif as_json:
        print_json(report)
    else:
        _print(report, report.days[-_MOST_DAYS:] if by == "day" else report.weeks)
        if (gaps := load_gaps(settings)) and (rows := gaps.use.rows()):
            out.print(f"how the answers of the {DAYS} days before {when(gaps.made_at)} were used")
            print_table(rows)


def _print(report: UsageReport, times: Sequence[UsageOfTime]) -> None:
    for sentence in report.in_words():
        out.print(sentence)
    print_table(report.rows_of(times))
    print_table(report.topic_rows()[:_MOST_SHOWN])
    if report.unused:
        out.print(f"{counted(len(report.unused), 'article')} that no answer used, the oldest first")
        print_table(report.unused_rows()[:_MOST_SHOWN])
        if len(report.unused) > _MOST_SHOWN:
            out.print(f"[dim]{len(report.unused) - _MOST_SHOWN:,} more: kb usage --csv[/]")
