"""The names of sources, and the ids of articles that are taken in: from the source's name and the item's, so that
they say where it came from.

An id has no other characters than letters, digits and hyphens: links find articles by these alone, see
:mod:`kb_pipeline.steps.article_links`.
"""

import posixpath
import re
import unicodedata
from pathlib import Path
from urllib.parse import urlsplit

from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.main_file import INDEX_FILE

_LONGEST = 150
"""Bytes, without the hash of an id that is not the only one of its kind; below the limit for article ids."""
_PAGE_OF_FOLDER = re.compile(rf"(?:^|/){re.escape(INDEX_FILE)}$", re.IGNORECASE)


def article_ids(source: str, item_id: str, name: str = "") -> tuple[str, str]:
    """The id for an item, and the one for when another item has that already; the second names only this item.

    Without a ``name`` the item's id is the path of a file, with the chapter behind a ``#``.
    """
    slug = _slug(f"{source}-{name or _shown(item_id)}")
    digest = fingerprint(source, item_id)[:10]
    short = slug.encode()[:_LONGEST].decode(errors="ignore").rstrip("-")
    own = f"{short}-{digest}"
    return check_article_id(short if short == slug else own), check_article_id(own)


def _shown(item_id: str) -> str:
    path, _, chapter = item_id.partition("#")
    folder = _PAGE_OF_FOLDER.sub("", path)
    shown = posixpath.splitext(path)[0] if folder == path else folder or "index"
    return f"{shown}-{chapter}"


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", text).casefold()).strip("-")


def name_of(path: Path) -> str:
    """A name for a source, from the folder or file it is."""
    whole = path.absolute().with_suffix("") if path.suffix.lower() == ".zip" else path.absolute()
    steps = [re.sub(r"[^a-z0-9]+", "-", step.lower()).strip("-") for step in whole.parts]
    # the folders at the end often say only what a built manual is
    telling = [
        step for step in steps if step and step not in {"html", "htdocs", "site", "build", "public", "en", "doc"}
    ]
    return (telling or ["articles"])[-1][:40].strip("-")


def name_of_site(url: str) -> str:
    """A name for a source, from the address of a website: its host, and the last folder of its path."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    host = (parts.hostname or "site").removeprefix("www.")
    folder = [step for step in parts.path.split("/") if step and "." not in step][-1:]
    return re.sub(r"[^a-z0-9]+", "-", "-".join([host, *folder]).lower()).strip("-")[:40].strip("-")
