"""The main file of an article's folder: ``index.html``, or else its only document. Decided by names alone."""

import posixpath
from collections.abc import Collection, Iterable, Sequence

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.formats import document_format, is_picture

INDEX_FILE = "index.html"

_DOCUMENTS_NOT_READ = {
    ".doc": "is an old Word document; save it as .docx",
    ".dot": "is an old Word template; save it as .docx",
    ".docm": "is a Word document with macros; save it as .docx",
    ".dotm": "is a Word template with macros; save it as .docx",
    ".ott": "is an OpenDocument template; save it as .odt",
    ".fodt": "is a flat OpenDocument text; save it as .odt",
    ".oft": "is a template of Outlook; save it as .msg",
    ".pages": "is a Pages document; export it as .docx",
    ".ppt": "is an old PowerPoint presentation; save it as .pptx",
    ".pps": "is an old PowerPoint show; save it as .pptx",
    ".pptm": "is a PowerPoint presentation with macros; save it as .pptx",
    ".ppsx": "is a PowerPoint show; save it as .pptx",
    ".ppsm": "is a PowerPoint show with macros; save it as .pptx",
    ".odp": "is an OpenDocument presentation; save it as .pptx",
    ".key": "is a Keynote presentation; export it as .pptx",
    ".xlsb": "is a binary Excel workbook; save it as .xlsx",
    ".xltx": "is an Excel template; save it as .xlsx",
    ".xltm": "is an Excel template with macros; save it as .xlsx",
    ".ots": "is a template of a spreadsheet; save it as .ods",
    ".numbers": "is a Numbers spreadsheet; export it as .xlsx",
}
"""Documents in formats that are not read."""

_OTHERS = {
    ".log": "is a log; if people ask for what it says, rename it to .txt",
    **dict.fromkeys((".tex", ".dbk", ".docbook"), "is the source of a page; build the page or a PDF"),
    **dict.fromkeys((".mbox", ".pst"), "holds many mails; export those that readers ask for as .eml or .msg"),
    **dict.fromkeys(
        (".mht", ".mhtml", ".webarchive"),
        "is a saved page in one file; save it with its pictures, as a complete page (.html and a folder)",
    ),
    **dict.fromkeys(
        (".json", ".jsonl", ".xml", ".yaml", ".yml", ".sql", ".sqlite", ".db", ".parquet"),
        "is data; put what readers ask for into a document (.md, .docx)",
    ),
    **dict.fromkeys(
        (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"),
        "is an archive; unpack it, and give each article a folder of its own",
    ),
    **dict.fromkeys(
        (".mp4", ".mov", ".avi", ".mkv", ".webm"),
        "is a film; save its sound as .mp3, or stage what is said in it as a document (.md, .docx)",
    ),
    **dict.fromkeys(
        (".chm", ".djvu", ".ps", ".xps", ".vsd", ".vsdx", ".one", ".mobi"), "is not read; export it as .pdf"
    ),
}
PAGES = (".html", ".htm", ".xhtml")
_NO_PAGE = dict.fromkeys(
    PAGES,
    f"is not the name of a page; rename it to {INDEX_FILE}, or make an article of each page of a "
    "tree with kb intake add folder",
)


def is_document(name: str) -> bool:
    """Return whether a file of this name is a document of a format that is read, which a folder can hold."""
    return document_format(name) is not None and not is_picture(name)


def is_page(name: str) -> bool:
    """Return whether a file of this name is a page, which needs the pictures beside it."""
    return name.lower().endswith(PAGES)


def is_loose_document(name: str) -> bool:
    """Return whether a file of this name is an article if it lies in the staging folder itself."""
    return document_format(name) is not None or is_page(name)


def is_article_of_tree(name: str) -> bool:
    """Return whether a file of this name is an article wherever it lies, and does not belong to one beside it."""
    return _standing(name) in ("article", "attachment") or is_page(name)


def why_no_article_of_tree(name: str) -> str:
    """Return why a file is no article in a tree though it is one alone in its folder; "" if there is no reason."""
    if _standing(name) != "note":
        return ""
    if is_picture(name):
        return "no page shows this picture"
    return f"a {format_of(name)} is an article only alone in a folder of the staging folder, not in a tree"


def why_document_not_read(name: str) -> str:
    """Return why a document is not read and what to do, as the end of a sentence; "" if there is no reason."""
    return "" if is_document(name) else _DOCUMENTS_NOT_READ.get(_ending(name), "")


def why_not_read(name: str) -> str:
    """Return the same of any file that people may stage for its text."""
    return why_document_not_read(name) or ("" if is_document(name) else _OTHERS.get(_ending(name), ""))


def format_of(name: str) -> str:
    """Return the format of a main file: ``html``, or the name of a format of documents."""
    entry = document_format(name)
    return entry.name if entry else "html"


def main_file(names: Iterable[str], chosen: str = "") -> str:
    """Return the name of the main file among the files of a folder.

    This is ``index.html`` if there is one, else ``chosen``, else the only document at the top of the folder. Tables
    count only if nothing but plain text lies beside them, and plain text only if there is no other document.

    Raises:
        UnreadableArticleError: there is none, or several could be it, or ``chosen`` is not one of them. The message
            begins with what is wrong, without the folder's name.
    """
    names = [name for name in names if name != "metadata.json"]
    top = [name for name in names if "/" not in name]
    if INDEX_FILE in top:
        return INDEX_FILE
    documents = sorted(name for name in top if is_document(name))
    if chosen:
        if chosen in documents:
            return chosen
        raise UnreadableArticleError(f'metadata.json says "main": {chosen!a}, which is {_not_there(chosen, top)}')
    documents = _of_highest_standing(documents)
    if len(documents) > 1:
        raise UnreadableArticleError(
            f"{len(documents)} documents could be the article ({_shown(documents)}); say which in metadata.json, as "
            '"main", or put each into a folder of its own'
        )
    if documents:
        return documents[0]
    for name in sorted(top):
        if problem := why_not_read(name) or _NO_PAGE.get(_ending(name), ""):
            raise UnreadableArticleError(f"{ascii(name)[1:-1]} {problem}")
    there = f"only {_shown(sorted(names))}" if names else "the folder is empty"
    raise UnreadableArticleError(f"there is no {INDEX_FILE} and no document such as .docx, .pdf or .md: {there}")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(ascii, names[:4])) + (", ..." if len(names) > 4 else "")


def may_have_main_file(names: Collection[str]) -> bool:
    """Return whether a folder with these files can be an article, before ``metadata.json`` is read."""
    return any("/" not in name and (name == INDEX_FILE or is_document(name)) for name in names)


def _not_there(chosen: str, top: Collection[str]) -> str:
    return "no document" if chosen in top else "not in the folder"


def _of_highest_standing(documents: list[str]) -> list[str]:
    for standing in ("article", "attachment"):
        if of_it := [name for name in documents if _standing(name) == standing]:
            return of_it
    return documents


def _standing(name: str) -> str:
    entry = document_format(name)
    return entry.standing if entry else ""


def _ending(name: str) -> str:
    return posixpath.splitext(name)[1].lower()
