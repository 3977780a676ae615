"""Which links of an article lead to other staged articles.

Documentation is linked in two ways: by the staged layout (``../other-article/index.html``) and by
the page names it was published under (``other-page.html``), which staging tools make into ids
(``guide-other-page``). A target is resolved only when exactly one article fits: no guessing.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from kb_pipeline.records import ArticleLink, Link


def suffix_index(article_ids: Iterable[str]) -> Mapping[str, str | None]:
    """Map every id, and every tail of it that begins at a hyphen, to the id; None where several fit."""
    whole: dict[str, str | None] = {}
    tails: dict[str, str | None] = {}
    for article_id in article_ids:
        name = _slug(article_id)
        whole[name] = None if name in whole else article_id
        for hyphen in re.finditer("-", name):
            tail = name[hyphen.end() :]
            tails[tail] = None if tail in tails else article_id
    return tails | whole  # a whole id always wins over the tail of another


def article_links(links: Iterable[Link], own_id: str, index: Mapping[str, str | None]) -> tuple[ArticleLink, ...]:
    """The links that lead to another article of ``index`` (made by :func:`suffix_index`), each once."""
    found = (
        ArticleLink(label=link.label, target=link.target, article_id=article_id)
        for link in links
        if (article_id := _resolve(link.target, index)) and article_id != own_id
    )
    return tuple(dict.fromkeys(found))


def _resolve(target: str, index: Mapping[str, str | None]) -> str | None:
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = PurePosixPath(unquote(parts.path))
    page = path.parent.name if path.stem.lower() == "index" and path.suffix else path.stem if path.suffix else path.name
    return index.get(_slug(page)) if page not in ("", ".", "..") else None


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[\W_]+", "-", plain).strip("-")
