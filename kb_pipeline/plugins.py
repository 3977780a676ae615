"""Finds a backend by its name in a setting: a built-in one, or a plug-in as ``package.module:Class``."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeVar

from kb_pipeline.errors import SettingsError

T = TypeVar("T")


def find_opener(setting: str, name: str, known: Mapping[str, Callable[..., T]], role: type[T]) -> Callable[..., T]:
    """Find the factory of the backend ``name``: an entry of ``known``, or an imported subclass of ``role``.

    Raises:
        SettingsError: there is no such backend. The message names the ``setting`` and the choices.
    """
    if name in known:
        return known[name]
    if ":" not in name:
        choices = ", ".join(sorted(known))
        raise SettingsError(f"{setting} is {name!r}; it must be one of {choices}, or package.module:Class of your own")
    module, _, attribute = name.partition(":")
    try:
        plugin: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as exc:
        raise SettingsError(f"{setting} is {name!r}, which cannot be imported: {exc}") from exc
    if not (isinstance(plugin, type) and issubclass(plugin, role)):
        raise SettingsError(f"{setting} is {name!r}, which is not a subclass of {role.__module__}:{role.__name__}")
    return plugin
