"""Converts what nobody has reviewed as the pipeline will, so that people see before what readers will see.

Nothing of it is trusted. It is converted in a process of its own with limits, in a folder that is removed afterwards,
and by this machine alone: no service is paid for, or told, what no reviewer has seen.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from kb_pipeline.contributions.base import UploadCheck
from kb_pipeline.errors import ContributionError, LimitExceededError, WorkerLostError, storage_errors
from kb_pipeline.flow.build import ArticleResult, build_article
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer, load_converted
from kb_pipeline.flow.layers.staged_article import StagedArticleLayer
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits
from kb_pipeline.records import ConvertedArticle, Table
from kb_pipeline.settings import Settings
from kb_pipeline.steps.markers import find_markers, replace_markers
from kb_pipeline.steps.pages import without_marks
from kb_pipeline.store.layout import Layout

LONGEST_PREVIEW = 100_000
"""Characters of the converted text that somebody reads."""
_MOST_SECONDS = 60.0
"""Somebody waits for the preview: what takes longer is staged by whoever keeps the folder."""
_LAYERS = (StagedArticleLayer.name, ConvertedMarkdownLayer.name)


def convert_alone(
    settings: Settings, service: str, name: str, files: Mapping[str, bytes]
) -> tuple[ConvertedArticle, tuple[UploadCheck, ...]]:
    """Convert an article of these files as the pipeline will, and return what the checks of the conversion say.

    ``name`` is its main file.

    Raises:
        ContributionError: it cannot be converted, or would not be published.
        StorageError: the temporary folder cannot be written.
    """
    advice = "check that the folder for temporary files may be written"
    with storage_errors("convert", "an uploaded file", advice), TemporaryDirectory(prefix="kb-upload-") as folder:
        scratch = _scratch(settings, Path(folder), service, files)
        result = _built(scratch, service, name)
        if result.error:
            raise ContributionError(f"{name!a} cannot become an article: {result.error}")
        table = result.layers[-1].report.get("checks")
        rows = table.rows if isinstance(table, Table) else ()
        checks = (UploadCheck(name=str(row["check"]), problem=str(row["problem"] or "")) for row in rows)
        return load_converted(Layout.of(scratch), service), tuple(checks)


def text_of(converted: ConvertedArticle) -> str:
    """Return the converted text as people read it: without marks of pages, and pictures by their names."""
    text = without_marks(converted.markdown)
    text = replace_markers(text, {marker.file: f"(picture: {marker.file})" for marker in find_markers(text)})
    if len(text) <= LONGEST_PREVIEW:
        return text
    return f"{text[:LONGEST_PREVIEW].rpartition(chr(10))[0]}\n\n…"


def _scratch(settings: Settings, folder: Path, service: str, files: Mapping[str, bytes]) -> Settings:
    """Stage the files in a folder of their own, and return the settings to build them there."""
    staged, home = folder / "staging" / service, folder / "home"
    staged.mkdir(parents=True)
    home.mkdir()
    for name, data in files.items():
        (staged / name).write_bytes(data)
    models = (settings.home_path / "models").absolute()
    if models.is_dir():
        (home / "models").symlink_to(models)
    elsewhere = {"staging": str(folder / "staging"), "staging_holds": "sources", "home": str(home), "serving": None}
    by_itself = {"analyzer": "local", "render": "none", "engine": "local", "attempts": 1}
    return settings.model_copy(update={**elsewhere, **by_itself, "index": "lancedb", "index_uri": None})


def _built(scratch: Settings, service: str, name: str) -> ArticleResult:
    run = Run("upload", datetime.now(UTC).isoformat(timespec="seconds"))
    seconds = min(_MOST_SECONDS, scratch.article_seconds)
    limits = ProcessLimits(
        seconds, scratch.article_memory_mb, "split it, or give it to whoever keeps the staging folder"
    )
    process = LimitedProcess(quiet=True)  # of its own for each, so that none meets what another left behind
    try:
        return process.call(build_article, scratch, service, _LAYERS, run, limits=limits)
    except LimitExceededError as exc:
        raise ContributionError(f"{name!a} {exc}") from exc
    except WorkerLostError as exc:
        raise ContributionError(f"{name!a} cannot be read: the process that read it died; save it anew") from exc
    finally:
        process.kill()
