"""The workers role: who builds the articles of a batch.

Here: opening a backend by name. A new backend is a file beside base.py and a line in ``OPENERS``.
"""

from collections.abc import Callable

from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings
from kb_pipeline.workers.base import Workers


def open_workers(settings: Settings) -> Workers:
    """The workers that the settings ask for.

    Raises:
        SettingsError: there is no such kind.
    """
    opener = find_opener("KB_ENGINE", settings.engine, OPENERS, Workers)  # type: ignore[type-abstract]
    return opener(settings)


def _local(settings: Settings) -> Workers:
    from kb_pipeline.workers.local import LocalWorkers

    return LocalWorkers(settings.workers)


def _ray(settings: Settings) -> Workers:
    from kb_pipeline.workers.ray import RayWorkers

    return RayWorkers(settings.ray_address, settings.ray_task_cpus)


OPENERS: dict[str, Callable[[Settings], Workers]] = {"local": _local, "ray": _ray}
