"""The pictures of pages: drawn in processes with limits, each once, and kept as long as there is room."""

import asyncio
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from app.callers.principal import Principal
from app.library.originals.files import DocumentNotFoundError, document_of, is_scan, lines_on, open_document
from app.library.originals.marking import Quote
from app.library.originals.page import DRAWING_VERSION, DrawnPage, PageMissingError, PageUnreadableError
from kb_pipeline.errors import KnowledgeBaseError, LimitExceededError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits
from kb_pipeline.records import PageLine, ServedDocument
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.formats import PDF
from kb_pipeline.store.layout import Layout

_LIMITS = ProcessLimits(10.0, 1000.0)
"""Seconds and MB for one page: far more than any real one takes."""
_PROCESSES = min(2, os.cpu_count() or 1)
"""More would take the CPU away from answers."""
_KEPT_BYTES = 64 << 20
"""Bytes of pictures: hundreds of pages of text."""
_KEPT_COPIES = 4
"""Documents of a remote store whose copies stay on the disk."""

FindQuotes = Callable[[], Sequence[Quote]]
"""Finds the sentences to be marked; only called if the picture is not there yet."""


class PageNotDrawnError(KnowledgeBaseError):
    """A page cannot be drawn: the file is damaged or encrypted, or drawing takes too long or too much memory."""


@dataclass(frozen=True)
class PictureRequest:
    """A page, how wide it is to be drawn, and the names of the passage and the sentences that are marked on it."""

    article_id: str
    page: int
    width: int
    chunk_id: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PagePicture:
    """The picture of a page, with a strong HTTP validator. A scan holds no text: its marks stand where OCR read it."""

    etag: str
    drawn: DrawnPage
    is_scan: bool = False


class PagePictures:
    """Draws the pages of published PDFs. Threads can share it; processes are started by the first picture.

    ``password_of`` returns the password of an article's document, "" if it has none.
    """

    def __init__(self, layout: Layout, password_of: Callable[[str], str]) -> None:
        self._layout = layout
        self._password_of = password_of
        self._pool = ThreadPoolExecutor(_PROCESSES, thread_name_prefix="pages")
        self._idle: SimpleQueue[LimitedProcess] = SimpleQueue()
        for _ in range(_PROCESSES):
            self._idle.put(LimitedProcess(quiet=True))
        self._kept: OrderedDict[str, DrawnPage] = OrderedDict()
        self._lock = Lock()
        self._copies = _LocalCopies()

    async def picture(self, asked: PictureRequest, who: Principal, find_quotes: FindQuotes) -> PagePicture:
        """The picture of a page that this person may see.

        Raises:
            DocumentNotFoundError: there is no such page, or this person may not see it.
            PageNotDrawnError: the page cannot be drawn.
            KnowledgeBaseError: what ``find_quotes`` raises.
        """
        path, digest, document = await asyncio.to_thread(self._file, asked.article_id, who)
        versions = (digest, document.ocr_lines) if document.ocr_lines else (digest,)
        key = fingerprint(DRAWING_VERSION, *versions, *vars(asked).values())
        drawn = self._known(key)
        if drawn is None:
            quotes = await asyncio.to_thread(find_quotes)
            lines = await asyncio.to_thread(lines_on, self._layout, asked.article_id, document, asked.page)
            loop = asyncio.get_running_loop()
            drawn = await loop.run_in_executor(self._pool, self._draw, key, path, asked, quotes, lines)
        scan = await asyncio.to_thread(is_scan, self._layout, asked.article_id, asked.page)
        return PagePicture(f'"{key}"', drawn, scan)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().kill()
        self._copies.close()

    def _file(self, article_id: str, who: Principal) -> tuple[str, str, ServedDocument]:
        """Return the path of the PDF on this machine, its hash, and what its version says about it."""
        document = document_of(self._layout, article_id, who)
        if document.media_type != PDF:
            raise DocumentNotFoundError(f"{document.path} has no pictures of its pages; only PDF files have")
        folder = self._layout.serving(article_id)
        if not isinstance(folder, Path):
            path = self._copies.path(document.sha256, lambda: (folder / document.path).read_bytes())
            return path, document.sha256, document
        opened = open_document(self._layout, article_id, document)
        opened.close()
        return str(folder / document.path), opened.etag, document

    def _known(self, key: str) -> DrawnPage | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _draw(
        self, key: str, path: str, asked: PictureRequest, quotes: Sequence[Quote], lines: Sequence[PageLine]
    ) -> DrawnPage:
        if drawn := self._known(key):  # somebody else asked for it meanwhile
            return drawn
        from app.library.originals.drawing import (
            draw_page,  # it loads PDFium, which a service without documents never needs
        )

        process = self._idle.get()
        try:
            arguments = path, asked.page, asked.width, tuple(quotes), tuple(lines), self._password_of(asked.article_id)
            drawn = process.call(draw_page, *arguments, limits=_LIMITS, name=f"page {asked.page}")
        except PageMissingError as exc:
            raise DocumentNotFoundError(f"there is no page {asked.page}: {exc}") from exc
        except (PageUnreadableError, LimitExceededError) as exc:
            raise PageNotDrawnError(f"page {asked.page} cannot be shown as a picture: {exc}") from exc
        except WorkerLostError as exc:
            raise PageNotDrawnError(f"page {asked.page} cannot be shown as a picture: drawing it crashed") from exc
        finally:
            self._idle.put(process)
        with self._lock:
            self._kept[key] = drawn
            while sum(len(each.png) for each in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return drawn


class _LocalCopies:
    """Copies of the last few files of an object storage, because PDFium reads a page from all over the file."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._names: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def path(self, digest: str, read: Callable[[], bytes]) -> str:
        """The path of the file with this hash, which is read if it is not here yet."""
        with self._lock:
            self._folder = self._folder or tempfile.TemporaryDirectory(prefix="kb-pages-")
            path = Path(self._folder.name) / digest
            if digest not in self._names:
                path.write_bytes(read())
                self._names[digest] = None
            self._names.move_to_end(digest)
            while len(self._names) > _KEPT_COPIES:
                (Path(self._folder.name) / self._names.popitem(last=False)[0]).unlink(missing_ok=True)
            return str(path)

    def close(self) -> None:
        if self._folder:
            self._folder.cleanup()
