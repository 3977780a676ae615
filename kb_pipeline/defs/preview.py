"""The job that previews a change of settings, and shows the report in its run.

Whoever starts a run may choose among what is configured and built in. A run that could name files or classes could show
any file of the machine to a model, or run any code on it; ``kb preview`` can, because it is started on the machine.
"""

from collections.abc import Mapping

import dagster as dg
from pydantic import Field

from kb_pipeline.analyzers import ANALYZERS
from kb_pipeline.defs.resources import CHOICES, KnowledgeBase
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.preview import SAMPLE, preview
from kb_pipeline.upkeep.preview_report import markdown

_FILES_AND_CODE = ("KB_IMAGE_PROMPT_FILE", "KB_SOURCES")


class PreviewConfig(dg.Config):
    """What to change, and on which articles to try it."""

    set: dict[str, str] = Field(default={}, description='Settings to change: {"KB_CHUNK_MAX_TOKENS": "800"}.')
    articles: list[str] = Field(default=[], description="Article ids; empty: a sample.")
    sample: int = Field(default=SAMPLE, ge=1, description="Size of the sample; articles with known questions first.")


@dg.op
def preview_sample(context: dg.OpExecutionContext, config: PreviewConfig, kb: KnowledgeBase) -> None:
    """Build the sample beside the live articles, and show how it would be different."""
    workspace = kb.workspace()
    _refuse_files_and_code(workspace.settings, config.set)
    made = preview(workspace, config.set, config.articles, config.sample)
    for one in made.articles:
        if one.failure:
            context.log.warning(f"would fail: {one.failure}")
    context.add_output_metadata(
        {
            "report": dg.MetadataValue.md(markdown(made)),
            "articles": len(made.articles),
            "changed_texts": sum(bool(one.diff) for one in made.articles),
            "failing": sum(bool(one.failure) for one in made.articles),
        }
    )


def _refuse_files_and_code(settings: Settings, changes: Mapping[str, str]) -> None:
    """Refuse what only the machine's own command line may choose.

    Raises:
        SettingsError: a change names a file or a class.
    """
    analyzer, embedder = changes.get("KB_ANALYZER"), changes.get("KB_EMBEDDER", "")
    is_own = analyzer is not None and analyzer not in {settings.analyzer, *ANALYZERS}
    is_own_embedder = embedder != settings.embedder and (":" in embedder or embedder.startswith("onnx/"))
    for name in (
        *(name for name in _FILES_AND_CODE if name in changes),
        *(["KB_ANALYZER"] if is_own else []),
        *(["KB_EMBEDDER"] if is_own_embedder else []),
    ):
        raise SettingsError(
            f"a run may not choose {name}={changes[name]}: it names a file or code of the machine; preview it there "
            "with: kb preview --set"
        )


@dg.job(
    description="Preview other settings on a sample: what would change, before anything is published.",
    config=dg.RunConfig({"preview_sample": PreviewConfig()}, resources=CHOICES),
)
def preview_changes() -> None:
    """The report is metadata of the op's output."""
    preview_sample()
