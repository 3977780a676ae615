"""Loose files: documents and pages in the staging folder itself, each an article whose id is the file's whole name.

A text or a picture is one, too, unless pages lie beside it: they are parts of those, as are folders that can be no
article. Which of its parts a page uses, it says itself.

The metadata of ``report.pdf`` lies beside it, in ``report.pdf.metadata.json``. Other files beside them are refused, but
for a document whose name begins with "readme", which tells authors about the folder (``passed_over``).
"""

import posixpath
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from kb_pipeline.errors import InvalidArticleIdError
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.html.decode import to_text
from kb_pipeline.steps.main_file import (
    is_article_of_tree,
    is_document,
    is_loose_document,
    is_page,
    why_document_not_read,
)
from kb_pipeline.steps.metadata import METADATA_FILE, may_be_metadata_file
from kb_pipeline.store.passed_over import is_note, is_part, passed_over
from kb_pipeline.store.staging_files import FileFacts

_SEPARATORS = "._- "
BESIDE = "../"
"""The beginning of the name of a file that lies beside a loose article, and is none of its files."""


class LooseFiles(NamedTuple):
    """What lies beside the folders: the files of each loose article, and files that are refused, with the reason.

    The document has the article's id as its name, its metadata the name ``metadata.json``. A file that may be meant as
    its metadata, and is named otherwise, is among its files, as ``../<name>``: it may restrict who reads the article.
    ``parts`` are pictures, styles and scripts that pages beside them may use.
    """

    articles: Mapping[str, list[FileFacts]]
    refused: Mapping[str, tuple[str, FileFacts]]
    parts: tuple[FileFacts, ...] = ()

    @property
    def pages(self) -> frozenset[str]:
        """The articles that are pages."""
        return frozenset(filter(is_page, self.articles))


def staged_path(article_id: str, name: str) -> str:
    """Return where a file of a loose article lies, below the staging folder."""
    return f"{article_id}.{name}" if name == METADATA_FILE else name


def loose_files(top: Iterable[FileFacts]) -> LooseFiles:
    """Sort out the files that lie in the staging folder itself."""
    files = {file.name: file for file in top}
    articles: dict[str, list[FileFacts]] = {}
    refused: dict[str, tuple[str, FileFacts]] = {}
    # where pages lie loose, texts and pictures are parts of them
    has_pages = any(map(is_page, files))
    is_article = is_article_of_tree if has_pages else is_loose_document
    documents = {name: file for name, file in files.items() if is_article(name) and not is_note(name)}
    known = set(documents)
    for name, file in documents.items():
        known.add(staged_path(name, METADATA_FILE))
        try:
            check_article_id(name)
        except InvalidArticleIdError as exc:
            refused[name] = str(exc).replace("; rename the folder", "; rename the file"), file
            continue
        sidecar = files.get(staged_path(name, METADATA_FILE))
        articles[name] = [file, sidecar._replace(name=METADATA_FILE)] if sidecar else [file]
    for article_id, file in _misnamed(files.values(), articles):
        articles[article_id].append(file._replace(name=BESIDE + file.name))
        known.add(file.name)
    parts = [file for name, file in files.items() if has_pages and name not in known and is_part(name)]
    known.update(file.name for file in parts)
    refused |= passed_over(file for name, file in files.items() if name not in known)
    return LooseFiles(articles, refused, tuple(parts))


def is_part_of_pages(folder: str, names: Collection[str], pages: Set[str]) -> bool:
    """Return whether a folder with files of these names belongs to the pages that lie beside it.

    Those are folders without a page or document, and ``guide_files``, which a browser saves with ``guide.html``: there
    are pages in it for its frames.
    """
    if folder.endswith("_files") and any(posixpath.splitext(page)[0] + "_files" == folder for page in pages):
        return True
    return bool(pages and names) and not any(map(_may_be_staged_for_its_text, names))


def parts_named(page: bytes, parts: Iterable[FileFacts]) -> list[FileFacts]:
    """Return the parts whose file names a page has somewhere, however they are written there.

    In an address, a style or a script: a file too many costs nothing, one too few loses a picture.
    """
    text = to_text(page)
    written = _folded(unescape(unquote(text)) + "\0" + unescape(unquote(text, "latin-1")))
    return [file for file in parts if _folded(posixpath.basename(file.name)) in written]


def _may_be_staged_for_its_text(name: str) -> bool:
    return is_page(name) or is_document(name) or bool(why_document_not_read(name))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _misnamed(files: Iterable[FileFacts], articles: Collection[str]) -> Iterator[tuple[str, FileFacts]]:
    """Find the files that may be meant as the metadata of loose articles: of which, and the file."""
    by_name: dict[str, list[str]] = {}
    for article_id in articles:
        for known_as in (article_id, posixpath.splitext(article_id)[0]):
            by_name.setdefault(known_as, []).append(article_id)
    sidecars = {staged_path(article_id, METADATA_FILE) for article_id in articles}
    for file in files:
        if file.name in sidecars or file.name in articles:
            continue
        if file.name == METADATA_FILE:  # it lies beside all of them
            yield from ((article_id, file) for article_id in articles)
            continue
        for at, character in enumerate(file.name):
            known_as = file.name[:at]
            if character in _SEPARATORS and known_as in by_name and may_be_metadata_file(file.name[at:]):
                yield from ((article_id, file) for article_id in by_name[known_as])
