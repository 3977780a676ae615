"""Jupyter notebooks, read by pandoc: their cells in order, with what they gave as text, tables and pictures.

Nothing is run. What is only for a browser to run, scripts and their controls, is left out.
"""

import json
import re
from typing import Any, ClassVar

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.pandoc.source import PandocSource
from kb_pipeline.sources.plain_bytes import text_in

_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<[^>]*>")
_LETTERS = re.compile(r"[^\W_]")
_INLINE_PICTURE = "data:image/"
MOST_BYTES = 200_000_000
"""Bytes of a notebook, whose pictures are written as text."""


class NotebookSource(PandocSource):
    """Reads Jupyter notebooks."""

    reader: ClassVar[str] = "ipynb"
    shows_title: ClassVar[bool] = False

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        text = text_in(name, data, most=MOST_BYTES)
        try:
            notebook = json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise UnreadableArticleError(
                f"{name} is damaged, or no notebook ({str(exc)[:200]}); save it again"
            ) from exc
        if not isinstance(notebook, dict) or not isinstance(notebook.get("nbformat"), int):
            raise UnreadableArticleError(f"{name} is no notebook: it does not say which nbformat it has")
        return json.dumps(_without_scripts(notebook)).encode(), ()


def _without_scripts(part: Any) -> Any:  # noqa: ANN401 - JSON
    """Leave out the pages that only a script fills, where the same is said in words."""
    if isinstance(part, list):
        return [_without_scripts(each) for each in part]
    if not isinstance(part, dict):
        return part
    page = part.get("text/html")
    if page is not None and "text/plain" in part and not _shows_something("".join(map(str, page))):
        part = {kind: value for kind, value in part.items() if kind != "text/html"}
    return {key: _without_scripts(value) for key, value in part.items()}


def _shows_something(page: str) -> bool:
    return _INLINE_PICTURE in page or bool(_LETTERS.search(_TAGS.sub("", _SCRIPTS.sub("", page))))
