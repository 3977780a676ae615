"""Workers, which build the articles of a batch in parallel.

Opens a backend by its name in the settings. A new backend is a file beside ``base.py`` and an entry in ``OPENERS``.
"""

from collections.abc import Callable

from kb_pipeline.limited.process import ProcessLimits
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings
from kb_pipeline.workers.base import Workers


def open_workers(settings: Settings) -> Workers:
    """Open the workers that the settings name.

    Raises:
        SettingsError: there is no such backend.
    """
    opener = find_opener("KB_ENGINE", settings.engine, OPENERS, Workers)  # type: ignore[type-abstract]
    return opener(settings)


def article_limits(settings: Settings) -> ProcessLimits:
    """The limits for building one article."""
    remedy = "raise KB_ARTICLE_SECONDS or KB_ARTICLE_MEMORY_MB, or make the article or that file smaller"
    return ProcessLimits(settings.article_seconds, settings.article_memory_mb, remedy)


def _local(settings: Settings) -> Workers:
    from kb_pipeline.workers.local import LocalWorkers

    return LocalWorkers(settings.workers, article_limits(settings))


def _ray(settings: Settings) -> Workers:
    from kb_pipeline.workers.ray import RayWorkers

    return RayWorkers(settings.ray_address, settings.ray_task_cpus, article_limits(settings))


OPENERS: dict[str, Callable[[Settings], Workers]] = {"local": _local, "ray": _ray}
