"""Which sources there are: ``intake.yaml`` names each, with its kind and what that needs::

handbook:
  kind: folder
  path: /usr/share/doc/handbook/html
"""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import IntakeSource, Options
from kb_pipeline.settings import Settings
from kb_pipeline.steps.strict_yaml import line_of, strict_yaml
from kb_pipeline.store.files import write_bytes

_LARGEST = 1_000_000
"""Bytes of the file: thousands of sources."""
_NAME = re.compile(r"[a-z0-9](-?[a-z0-9]){0,39}")


KINDS: Mapping[str, tuple[str, str]] = {
    "folder": ("kb_pipeline.intake.folder:FolderOptions", "kb_pipeline.intake.folder:FolderSource"),
    "git": ("kb_pipeline.intake.git:GitOptions", "kb_pipeline.intake.git:GitSource"),
    "website": (
        "kb_pipeline.intake.website.options:WebsiteOptions",
        "kb_pipeline.intake.website.source:WebsiteSource",
    ),
    "mail": ("kb_pipeline.intake.mail.source:MailOptions", "kb_pipeline.intake.mail.source:MailboxSource"),
    "confluence": (
        "kb_pipeline.intake.confluence.source:ConfluenceOptions",
        "kb_pipeline.intake.confluence.source:ConfluenceSource",
    ),
    "zendesk": ("kb_pipeline.intake.zendesk:ZendeskOptions", "kb_pipeline.intake.zendesk:ZendeskSource"),
    "sharepoint": (
        "kb_pipeline.intake.sharepoint.source:SharePointOptions",
        "kb_pipeline.intake.sharepoint.source:SharePointSource",
    ),
    "mediawiki": (
        "kb_pipeline.intake.mediawiki.source:MediaWikiOptions",
        "kb_pipeline.intake.mediawiki.source:MediaWikiSource",
    ),
}
"""What each kind is declared with, and what opens it: named, since the HTTP clients of some load slowly."""


def read_sources(settings: Settings) -> dict[str, Options]:
    """What is declared, by name; nothing if there is no file.

    Raises:
        IntakeError: the file is not valid. The message names the line.
    """
    path = Path(settings.intake)
    try:
        text = path.read_bytes() if path.exists() else b""
    except OSError as exc:
        raise IntakeError(f"{path} cannot be read: {exc.strerror}") from exc
    return _read(path, text)


def _read(path: Path, text: bytes) -> dict[str, Options]:
    if len(text) > _LARGEST:
        raise IntakeError(f"{path} has {len(text):,} bytes; at most {_LARGEST:,} are read")
    try:
        declared = strict_yaml(text)
    except ValueError as exc:
        raise IntakeError(f"{path} is not valid YAML: {exc}") from exc
    if declared is None:
        return {}
    if not isinstance(declared, dict):
        raise IntakeError(f"{path} must name sources, each with its kind: see docs/intake.md")
    sources: dict[str, Options] = {}
    for name, values in declared.items():
        where = f"{path}, line {line_of(text, [str(name)])}"
        if not _NAME.fullmatch(str(name)):
            raise IntakeError(
                f"{where}: {str(name)[:80]!r} cannot be the name of a source, which has at most 40 small letters, "
                "digits and single hyphens"
            )
        if not isinstance(values, dict) or values.get("kind") not in KINDS:
            raise IntakeError(f"{where}: {name} needs a kind, one of: {', '.join(KINDS)}")
        try:
            sources[name] = options_of(values["kind"]).model_validate(values, context={"folder": path.parent})
        except ValidationError as exc:
            problem = exc.errors()[0]
            line = line_of(text, [name, *problem["loc"]])
            place = ".".join(map(str, problem["loc"]))
            reason = problem["msg"].removeprefix("Value error, ")
            raise IntakeError(f"{path}, line {line}: {name}.{place}: {reason}") from exc
    return sources


def options_of(kind: str) -> type[Options]:
    """What a source of this kind is declared with."""
    options: type[Options] = _load(KINDS[kind][0])
    return options


def open_source(name: str, options: Options, settings: Settings) -> IntakeSource:
    """The source of this name.

    Raises:
        IntakeError: what it names is not there.
    """
    source: IntakeSource = _load(KINDS[options.kind][1])(name, options, settings)
    return source


def _load(named: str) -> Any:  # noqa: ANN401  # a class of options, or of a source
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)


def add_source(settings: Settings, name: str, values: Mapping[str, object]) -> Options:
    """Declare a source at the end of the file, whose other lines stay as they are.

    Raises:
        IntakeError: there is a source of this name, the values are not valid, or what they name cannot be read; nothing
            was written.
    """
    path = Path(settings.intake)
    if name in read_sources(settings):
        raise IntakeError(f"{path} has a source {name} already; choose another --name, or change it there")
    before = path.read_bytes() if path.exists() else b""
    added = yaml.safe_dump({name: dict(values)}, sort_keys=False, allow_unicode=True).encode()
    text = before + (b"" if not before or before.endswith(b"\n") else b"\n") + added
    options = _read(path, text)[name]
    open_source(name, options, settings)
    write_bytes(UPath(path), text)
    return options
