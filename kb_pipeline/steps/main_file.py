"""The main file of an article's folder: ``index.html``, or else its only document. Decided by names alone."""

import posixpath
from collections.abc import Collection, Iterable

from kb_pipeline.errors import UnreadableArticleError

INDEX_FILE = "index.html"

DOCUMENTS = {".md": "markdown", ".markdown": "markdown", ".docx": "docx", ".pdf": "pdf", ".pptx": "pptx"}
"""The formats of documents, by the ending of their names."""

_REFUSED = {
    ".doc": "is an old Word document; save it as .docx",
    ".dot": "is an old Word template; save it as .docx",
    ".docm": "is a Word document with macros; save it as .docx",
    ".dotm": "is a Word template with macros; save it as .docx",
    ".rtf": "is an RTF document; save it as .docx",
    ".odt": "is an OpenDocument text; save it as .docx",
    ".pages": "is a Pages document; export it as .docx",
    ".htm": f"is not the name of a page; rename it to {INDEX_FILE}",
}


def format_of(name: str) -> str:
    """Return the format of a main file: ``html``, or a value of :data:`DOCUMENTS`."""
    return DOCUMENTS.get(_ending(name), "html")


def main_file(names: Iterable[str], chosen: str = "") -> str:
    """Return the name of the main file among the files of a folder.

    This is ``index.html`` if there is one, else ``chosen``, else the only document at the top of the folder.

    Raises:
        UnreadableArticleError: there is none, or several could be it, or ``chosen`` is not one of them. The message
            begins with what is wrong, without the folder's name.
    """
    top = [name for name in names if "/" not in name]
    if INDEX_FILE in top:
        return INDEX_FILE
    documents = sorted(name for name in top if _ending(name) in DOCUMENTS)
    if chosen:
        if chosen in documents:
            return chosen
        raise UnreadableArticleError(f'metadata.json says "main": {chosen!a}, which is {_not_there(chosen, top)}')
    if len(documents) > 1:
        shown = ", ".join(map(ascii, documents[:4])) + (", ..." if len(documents) > 4 else "")
        raise UnreadableArticleError(
            f'{len(documents)} documents could be the article ({shown}); say which in metadata.json, as "main", or put '
            "each into a folder of its own"
        )
    if documents:
        return documents[0]
    refused = next((name for name in sorted(top) if _ending(name) in _REFUSED), "")
    if refused:
        raise UnreadableArticleError(f"{ascii(refused)[1:-1]} {_REFUSED[_ending(refused)]}")
    raise UnreadableArticleError(f"there is no {INDEX_FILE} and no document ({', '.join(DOCUMENTS)})")


def may_have_main_file(names: Collection[str]) -> bool:
    """Return whether a folder with these files can be an article, before ``metadata.json`` is read."""
    return any("/" not in name and (name == INDEX_FILE or _ending(name) in DOCUMENTS) for name in names)


def _not_there(chosen: str, top: Collection[str]) -> str:
    return "no document" if chosen in top else "not in the folder"


def _ending(name: str) -> str:
    return posixpath.splitext(name)[1].lower()
