"""Reads the text on pictures of pages by OCR. A picture is read once, in whichever documents its page stands."""

import io
from collections.abc import Sequence

from PIL import Image

from kb_pipeline.analyzers.local import MODEL, recognise
from kb_pipeline.records import Record
from kb_pipeline.services.usage import timed_use
from kb_pipeline.steps.describe import OcrLine
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.store.kept import DurableRecord
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.locks import Locks


class LinesOnPicture(Record):
    """The lines of text on the picture of a page, in pixels."""

    lines: tuple[OcrLine, ...]


class PageReader:
    """Reads pictures of pages with the OCR of this machine, and keeps the results."""

    def __init__(self, layout: Layout, locks: Locks) -> None:
        self._layout = layout
        self._locks = locks

    def read(self, png: bytes) -> Sequence[OcrLine]:
        """Return the lines of text on the picture of a page (PNG), in no particular order.

        Raises:
            StorageError: the results kept earlier cannot be read or written.
        """
        key = fingerprint(sha256(png), MODEL)
        path = self._layout.page_text(key)
        kept = DurableRecord(
            self._layout.home, str(path.relative_to(self._layout.home)), LinesOnPicture.model_validate_json
        )
        with self._locks.hold([key]):
            if known := kept.read().value:
                return known.lines
            with timed_use(MODEL):
                lines = recognise(Image.open(io.BytesIO(png)).convert("RGB"))
            kept.write(LinesOnPicture(lines=tuple(lines)).model_dump_json().encode(), durable=True)
        return lines
