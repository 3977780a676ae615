"""``kb preview``: what a change of settings would do, seen on a sample before anything is published."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from kb_pipeline.cli.console import AsJson, err, out, print_json, print_table
from kb_pipeline.cli.naming import did_you_mean
from kb_pipeline.errors import SettingsError, StorageError
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings
from kb_pipeline.upkeep.preview import SAMPLE, SettingsPreview
from kb_pipeline.upkeep.preview import preview as make_preview
from kb_pipeline.upkeep.preview_report import (
    article_rows,
    fate_rows,
    markdown,
    score_rows,
    short_diff,
    summary_lines,
    why_unknown,
    work_rows,
)


def preview(
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KB_NAME=VALUE", help="Change this setting; can be repeated."),
    ] = None,
    analyzer: Annotated[str | None, typer.Option("--analyzer", help="The same as --set KB_ANALYZER=...")] = None,
    prompt: Annotated[
        Path | None,
        typer.Option("--prompt", metavar="FILE", help="The same as --set KB_IMAGE_PROMPT_FILE=..."),
    ] = None,
    article: Annotated[
        list[str] | None, typer.Option("--article", metavar="ID", help="Build this article; can be repeated.")
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="Build so many articles, those with known questions first.")
    ] = SAMPLE,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diffs of all articles in full.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FOLDER", help="Also write report.md and a .diff per article.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Preview another setting, analyzer or image prompt on a sample of articles. Publishes nothing.

    Builds the sample beside the live articles, which costs what the models take for it, and compares: text,
    descriptions, sections, known questions, and the work and money of the full run. For operators: the report ignores
    who may read an article.
    """
    wanted = _parsed(changes or [])
    wanted |= {"KB_ANALYZER": analyzer} if analyzer else {}
    wanted |= {"KB_IMAGE_PROMPT_FILE": str(prompt.absolute())} if prompt else {}
    workspace = open_workspace(load_settings())
    staged = workspace.staging.list_articles().article_ids
    if unknown := sorted(set(article or ()) - set(staged)):
        hint = did_you_mean(unknown, staged)
        raise SettingsError(f"no article in {workspace.settings.staging}: {', '.join(unknown)}{hint}")
    with err.status("building the sample"):
        made = make_preview(workspace, wanted, article or (), sample)
    if output:
        _write(made, output)
    if as_json:
        print_json(made.as_dict())
    else:
        _print(made, whole=diff)


def _parsed(changes: list[str]) -> dict[str, str]:
    pairs = [change.partition("=") for change in changes]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        raise SettingsError(f"--set {wrong[0]} has no value; write it as --set KB_CHUNK_MAX_TOKENS=800")
    return {name.strip(): value for name, _, value in pairs}


def _write(found: SettingsPreview, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md").write_text(markdown(found, whole=True))
        for one in found.articles:
            if one.diff:
                (folder / f"{one.article_id}.diff").write_text(one.diff)
    except OSError as exc:
        raise StorageError(f"cannot write {folder}: {exc.strerror or exc}; choose another --output") from exc
    err.print(f"written to {escape(str(folder))}", soft_wrap=True)


def _print(found: SettingsPreview, *, whole: bool) -> None:
    for line in summary_lines(found):
        out.print(escape(line), soft_wrap=True)
    print_table(article_rows(found))
    for one in found.articles:
        if one.failure:
            err.print(f"[red]would fail:[/] {escape(one.failure)}", soft_wrap=True)
        elif one.diff:
            out.print(f"[bold]{escape(one.article_id)}[/]")
            out.print(one.diff if whole else short_diff(one), markup=False, soft_wrap=True)
    print_table(work_rows(found))
    for why in why_unknown(found):
        out.print(f"[yellow]unknown:[/] {escape(why)}", soft_wrap=True)
    if found.scores is None:
        out.print(f"[yellow]no scores:[/] {escape(found.no_scores)}", soft_wrap=True)
        return
    out.print(f"{found.scores.questions} known questions, asked of the sample alone")
    print_table(score_rows(found.scores))
    print_table(fate_rows(found.scores))
