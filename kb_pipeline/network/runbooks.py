"""Runbooks of strangers as HTML. Markdown can be written so that no parser ends, so one runs in a limited process."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from markdown_it.token import Token

from kb_pipeline.errors import LimitExceededError, ScenarioError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits
from kb_pipeline.steps.markdown_parsers import safe_parser

_IMAGES = (".png", ".gif", ".jpg", ".jpeg", ".webp", ".svg")
_LIMITS = ProcessLimits(seconds=30, memory_mb=1000)
"""Seconds and MB: far more than a runbook of the largest size takes, unless it is hostile."""


@dataclass(frozen=True)
class Rendered:
    """A runbook: its first heading, its HTML, and the names of the pictures beside it that it shows."""

    title: str
    body: str
    images: tuple[str, ...]


def render_runbooks(texts: Mapping[str, str]) -> Iterator[tuple[str, Rendered]]:
    """The runbooks by the names of their files.

    Raises:
        ScenarioError: one takes too long, or too much memory.
    """
    process = LimitedProcess(quiet=True)
    try:
        for file, text in texts.items():
            try:
                yield file, process.call(render, text, limits=_LIMITS)
            except (LimitExceededError, WorkerLostError, RecursionError) as exc:
                raise ScenarioError(f"the markdown of {file} takes too much time or memory; make it simpler") from exc
    finally:
        process.kill()


def render(text: str) -> Rendered:
    """One runbook; HTML in it is text."""
    parser = safe_parser()
    tokens = parser.parse(text)
    title = next((_words(one) for head, one in pairwise(tokens) if head.type == "heading_open"), "")
    images = (child for each in tokens for child in each.children or () if child.type == "image")
    names = (posixpath.normpath(unquote(str(token.attrs.get("src", "")))) for token in images)
    beside = (name for name in names if not name.startswith((".", "/")) and "://" not in name)
    shown = dict.fromkeys(name for name in beside if name.lower().endswith(_IMAGES))
    return Rendered(title, parser.renderer.render(tokens, parser.options, {}), tuple(shown))


def _words(inline: Token) -> str:
    return " ".join("".join(child.content or " " for child in inline.children or ()).split())
