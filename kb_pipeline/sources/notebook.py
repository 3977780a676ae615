"""Jupyter notebooks, read by pandoc: their cells in order, with what they gave as text, tables and pictures.

Nothing is run. What is only for a browser to run, scripts and their controls, is left out.
"""

import json
from typing import ClassVar

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.pandoc import PandocSource
from kb_pipeline.sources.plain_bytes import text_in

MOST_BYTES = 200_000_000
"""Of a notebook; its pictures are written as text."""


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
        return json.dumps(notebook).encode(), ()
