"""What lies in staging and is part of no article: said by name, with what to do, but for what every folder collects.

Decided by names alone.
"""

import re
from collections.abc import Collection, Iterable

from kb_pipeline.steps.main_file import INDEX_FILE, is_article_of_tree, is_loose_document, is_page, why_not_read
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.store.staging_files import FileFacts

_NOTES = ("readme", "license", "licence", "copying")
"""Beginnings of the names of files that tell authors about the folder."""
_JUNK = re.compile(
    r"(?:thumbs\.db|ehthumbs\.db|desktop\.ini|icon\r|#.*#|~.*|.*\.(?:bak|orig|rej|tmp|temp|swp|swo|lock|part|crdownload))",
    re.I | re.S,
)
_JUNK_FOLDERS = frozenset(
    {"__MACOSX", "$RECYCLE.BIN", "System Volume Information", "lost+found", "@eaDir", "__pycache__"}
)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".heic", ".image")
_PARTS = (".css", ".js", ".woff", ".woff2", ".ttf", ".map")
_MOST = 20
"""Files of one kind that are named one by one."""


def is_note(name: str) -> bool:
    """Return whether a file in the staging folder itself tells authors about the folder."""
    lowered = name.casefold()
    if not is_loose_document(name):
        return lowered.startswith(_NOTES)
    return lowered.startswith(_NOTES[0]) or (lowered.split(".")[0] in _NOTES and not is_article_of_tree(name))


def is_part(name: str) -> bool:
    """Return whether a file is a picture, a style or a script, which a page may use."""
    return name.lower().endswith(_PICTURES + _PARTS)


def is_junk_folder(name: str) -> bool:
    """Return whether a folder is one that systems make for themselves."""
    return name in _JUNK_FOLDERS


def passed_over(files: Iterable[FileFacts]) -> dict[str, tuple[str, FileFacts]]:
    """Return, by name, why files in the staging folder itself are no article, and what to do; not for junk."""
    by_reason: dict[str, list[FileFacts]] = {}
    for file in files:
        if not (_JUNK.fullmatch(file.name) or is_note(file.name)):
            by_reason.setdefault(_why(file.name), []).append(file)
    reasons = {}
    for reason, alike in by_reason.items():
        more = f" (so are {len(alike) - 1:,} others beside it)" if len(alike) > _MOST else ""
        for file in alike[:1] if more else alike:
            newest = file._replace(changed=max(each.changed for each in alike)) if more else file
            reasons[file.name] = f"{file.name} {reason}{more}", newest
    return reasons


def pages_beside(names: Collection[str], main: str) -> str:
    """Return what to say of pages in an article's folder that are not its main file; "" if there are none."""
    pages = sorted(name for name in names if "/" not in name and name != main and is_page(name))
    if not pages:
        return ""
    shown = ", ".join(map(ascii, pages[:3])) + (", ..." if len(pages) > 3 else "")
    are = "1 page beside it is" if len(pages) == 1 else f"{len(pages):,} pages beside it are"
    return f"{main} is the article, and {are} not read ({shown}); give each a folder of its own, as {INDEX_FILE}"


def _why(name: str) -> str:
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    if name.endswith(METADATA_FILE):
        return "describes no article that lies beside it; move it to its article, or remove it"
    if ending in _PICTURES:
        return "is a picture; put it into the folder of the article that shows it"
    if ending in _PARTS:
        return "is a part of a page; put it into the folder of that page"
    if is_loose_document(name):
        return (
            "lies beside loose pages, and may belong to one; put it into the folder of its page, or into one of its own"
        )
    return why_not_read(name) or (
        f"is in no format that is read; save it as .md, .docx, .pptx, .xlsx or .pdf, or as {INDEX_FILE} in a folder of "
        "its own"
    )
