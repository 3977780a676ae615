"""Analyzers turn HTML into markdown and images into descriptions; one module or package each.

Here: opening an analyzer by name. To add one, write its module and add a line to ``ANALYZERS``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings

__all__ = ["ANALYZERS", "Analyzer", "open_analyzer"]


def _local(settings: Settings) -> Analyzer:
    from kb_pipeline.analyzers.local import LocalAnalyzer

    return LocalAnalyzer(settings)


def _content_understanding(settings: Settings) -> Analyzer:
    with _needs_extra("content-understanding"):
        from kb_pipeline.analyzers.content_understanding.analyzer import ContentUnderstandingAnalyzer

    return ContentUnderstandingAnalyzer(settings)


def _mistral_doc_ai(settings: Settings) -> Analyzer:
    with _needs_extra("mistral-doc-ai"):
        from kb_pipeline.analyzers.mistral.analyzer import MistralAnalyzer

    return MistralAnalyzer(settings)


@contextmanager
def _needs_extra(analyzer: str) -> Iterator[None]:
    try:
        yield
    except ImportError as exc:
        raise MissingExtraError(f"KB_ANALYZER={analyzer}", "azure") from exc


ANALYZERS: dict[str, Callable[[Settings], Analyzer]] = {
    "local": _local,
    "content-understanding": _content_understanding,
    "mistral-doc-ai": _mistral_doc_ai,
}


def open_analyzer(settings: Settings) -> Analyzer:
    """Open the analyzer of the settings: one of ours by name, or ``package.module:Class``, called with the settings.

    Models are loaded with the first image.

    Raises:
        SettingsError: no analyzer has this name, a setting that it needs is missing, or it takes no prompt and one is
            set.
        MissingExtraError: the packages of the analyzer are not installed.
    """
    opener = find_opener("KB_ANALYZER", settings.analyzer, ANALYZERS, Analyzer)  # type: ignore[type-abstract]
    analyzer = opener(settings)
    if settings.image_prompt_file and not analyzer.takes_prompt:
        raise SettingsError(
            f"KB_ANALYZER={settings.analyzer} describes images without a prompt of yours; unset KB_IMAGE_PROMPT_FILE, "
            "or set KB_ANALYZER=mistral-doc-ai"
        )
    return analyzer
