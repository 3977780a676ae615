"""HTML and images become markdown and descriptions: one file per analyzer."""

from collections.abc import Callable

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.plugins import find_opener

__all__ = ["ANALYZERS", "Analyzer", "open_analyzer"]


def _local() -> Analyzer:
    from kb_pipeline.analyzers.local import LocalAnalyzer

    return LocalAnalyzer()


ANALYZERS: dict[str, Callable[[], Analyzer]] = {
    "local": _local,
}


def open_analyzer(name: str) -> Analyzer:
    """Open an analyzer: one of ours by name, or ``package.module:Class``.

    What it needs to load, it loads at its first image.

    Raises:
        SettingsError: there is no analyzer of that name.
    """
    return find_opener("KB_ANALYZER", name, ANALYZERS, Analyzer)()  # type: ignore[type-abstract]
