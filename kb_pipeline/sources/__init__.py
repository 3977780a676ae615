"""Sources read documents, in formats other than HTML, into the HTML that the converter turns into markdown.

One module each. Here: the source of a format. To add a format, write its module, and an entry in ``steps/formats``; or
name a class of your own in ``KB_SOURCES``.
"""

from collections.abc import Sequence
from functools import cache, partial

from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.sources.base import DocumentLimits, Source, SourceDocument, SourceTools
from kb_pipeline.steps.formats import FORMATS, UNKNOWN, Format, add_formats

__all__ = ["DocumentLimits", "Source", "SourceDocument", "SourceTools", "source_of", "use_sources"]


_NEVER = {".html", ".htm", ".json"}
"""Endings that no plug-in can have: a page and its metadata."""


@cache
def source_of(file_format: str) -> Source:
    """Return the source that reads a format: one of ``steps.formats``, or a plug-in by its name.

    Raises:
        SettingsError: the plug-in cannot be opened.
    """
    openers = {each.name: partial(_open, each.source) for each in FORMATS}
    return find_opener("KB_SOURCES", file_format, openers, Source)()  # type: ignore[type-abstract]


def _open(source: str) -> Source:
    return find_opener("KB_SOURCES", source, {}, Source)()  # type: ignore[type-abstract]


def use_sources(names: Sequence[str]) -> None:
    """Read files with the endings of these plug-ins (``package.module:Class``) by them, in this process.

    Raises:
        SettingsError: one cannot be opened, or its endings are none.
    """
    formats: list[Format] = []
    for name in names:
        if ":" not in name:
            raise SettingsError(f"KB_SOURCES has {name!r}; write package.module:Class of your own")
        source = source_of(name)
        endings = source.endings
        if wrong := [one for one in endings if one in _NEVER or not one.startswith(".") or one != one.lower()]:
            raise SettingsError(f"KB_SOURCES has {name!r}, whose ending {wrong[0]!r} is none; it must be like .epub")
        if not endings:
            raise SettingsError(f"KB_SOURCES has {name!r}, which has no endings; see kb_pipeline.sources.base")
        types = {ending: source.media_types.get(ending, UNKNOWN) for ending in endings}
        formats.append(Format(name, types, name, source.part))
    add_formats(formats)
