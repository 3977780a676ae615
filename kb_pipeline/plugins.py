"""Opening a backend by the name in a setting: one of ours, or ``package.module:Class`` of somebody else."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeVar

from kb_pipeline.errors import SettingsError

T = TypeVar("T")


def find_opener(setting: str, name: str, known: Mapping[str, Callable[..., T]], role: type[T]) -> Callable[..., T]:
    """What makes the backend called ``name``: an entry of ``known``, or an imported subclass of ``role``.

    Raises:
        SettingsError: there is no such backend; the message names the ``setting`` and the choices.
    """
    if name in known:
        return known[name]
    if ":" not in name:
        choices = ", ".join(sorted(known))
        raise SettingsError(f"{setting} is {name!r}; it must be one of {choices}, or package.module:Class of your own")
    found = _imported(setting, name)
    if not (isinstance(found, type) and issubclass(found, role)):
        raise SettingsError(f"{setting} is {name!r}, which is no subclass of {role.__module__}:{role.__name__}")
    return found


def _imported(setting: str, name: str) -> object:
    module, _, attribute = name.partition(":")
    try:
        found: object = getattr(import_module(module), attribute)
        return found
    except (ImportError, AttributeError) as exc:
        raise SettingsError(f"{setting} is {name!r}, which cannot be imported: {exc}") from exc
