"""What a run that built articles did, for people and for programs."""

from collections.abc import Mapping, Sequence

from rich.markup import escape

from kb_pipeline.cli.console import err
from kb_pipeline.cli.progress import Tally
from kb_pipeline.cli.run_job import JobRun

_SHOWN = 20


def summarise(tally: Tally, refused: Mapping[str, str]) -> None:
    """Warnings, failures and numbers, on stderr."""
    for warning in tally.warnings[:_SHOWN]:
        err.print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    if len(tally.warnings) > _SHOWN:
        err.print(f"… and {len(tally.warnings) - _SHOWN} more warnings, in the manifests and in the Dagster UI")
    for failure in tally.failures[:_SHOWN]:
        reason = (failure.error or "").partition("\n")[0]  # a defect's stack trace is in the run
        err.print(f"[red]failed[/] in {failure.failed_layer}: {escape(reason)}", soft_wrap=True)
    if len(tally.failures) > _SHOWN:
        err.print(f"… and {len(tally.failures) - _SHOWN} more: kb failures lists them all")
    err.print(
        f"[green]{tally.published} articles published[/] ({tally.unchanged} unchanged), {len(tally.failures)} failed, "
        f"{len(refused)} refused, in {tally.seconds:.1f} s; "
        f"{tally.made['newly_described']} images described, {tally.made['newly_embedded']} chunks embedded",
        soft_wrap=True,
    )


def document(run: JobRun | None, tally: Tally, refused: Mapping[str, str]) -> dict[str, object]:
    """The same for ``--json``; without a run there was nothing to do."""
    failed: Sequence[Mapping[str, object]] = [
        {
            "article_id": result.article_id,
            "layer": result.failed_layer,
            "error": result.error,
            "transient": result.transient,
        }
        for result in tally.failures
    ]
    return {
        "run_id": run.id if run else None,
        "articles": tally.articles,
        "published": tally.published,
        "unchanged": tally.unchanged,
        "failed": failed,
        "refused": refused,
        "warnings": tally.warnings,
        "images_described": tally.made["newly_described"],
        "chunks_embedded": tally.made["newly_embedded"],
        "seconds": round(tally.seconds, 3),
    }
