"""Finds a backend by its name in a setting: a built-in one, or a plug-in as ``package.module:Class``."""

import traceback
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TypeVar

from kb_pipeline.errors import KnowledgeBaseError, SettingsError

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
    except ModuleNotFoundError as exc:
        raise SettingsError(
            f"{setting} is {name!r}, which cannot be imported: {exc}; install its package into this environment, or "
            "add its folder to PYTHONPATH"
        ) from exc
    except Exception as exc:  # whatever the module does when it is imported
        raise SettingsError(f"{setting} is {name!r}, which cannot be imported: {_reason(exc)}") from exc
    if not (isinstance(plugin, type) and issubclass(plugin, role)):
        raise SettingsError(f"{setting} is {name!r}, which is not a subclass of {role.__module__}:{role.__name__}")
    return partial(_open_plugin, setting, name, plugin, role)


def _open_plugin(setting: str, name: str, plugin: Callable[..., T], role: type[T], *arguments: object) -> T:
    try:
        opened = plugin(*arguments)
    except KnowledgeBaseError:
        raise
    except Exception as exc:
        raise SettingsError(f"{setting} is {name!r}, which cannot be opened: {_reason(exc)}") from exc
    if missing := [attribute for attribute in role.__annotations__ if not hasattr(opened, attribute)]:
        raise SettingsError(f"{setting} is {name!r}, which has no {' and no '.join(missing)}; see {role.__module__}")
    return opened


def _reason(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
