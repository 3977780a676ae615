"""Which links of an article lead to other staged articles.

Documentation is linked in two ways: by the staged layout (``../other-article/index.html``) and by
the page names it was published under (``other-page.html``), which staging tools make into ids with
a prefix for the whole set (``guide-other-page``). A target is resolved only when it is relative and
exactly one article fits, its prefix being that of the linking article: no guessing.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from kb_pipeline.records import ArticleLink, Link

_PAGE = re.compile(r"(?:\./)?(?:\.\./(?:[^/.][^/]*/)?)?(?!index\.)([^/]+)\.(?:html?|xhtml)", re.I)
"""A page beside the article, in the folder above or in one beside that."""
_FOLDER = re.compile(r"(?:\./)?(?:\.\./)?(?:([^/]+)/(?:index\.\w+)?|([^/.]+))", re.I)
"""An article's folder, with or without the page in it."""


def name_index(article_ids: Iterable[str]) -> Mapping[str, str | None]:
    """Map every id, spelled as links may spell it, to the id; None where several are spelled alike."""
    index: dict[str, str | None] = {}
    for article_id in article_ids:
        name = _slug(article_id)
        index[name] = None if name in index else article_id
    return index


def article_links(links: Iterable[Link], own_id: str, index: Mapping[str, str | None]) -> tuple[ArticleLink, ...]:
    """The links that lead to another article of ``index`` (made by :func:`name_index`), each once."""
    own = _slug(own_id)
    prefixes = [own[: hyphen.end()] for hyphen in re.finditer("-", own)]
    found = (
        ArticleLink(label=link.label, target=link.target, article_id=article_id)
        for link in links
        if (article_id := _resolve(link.target, prefixes, index)) and article_id != own_id
    )
    return tuple(dict.fromkeys(found))


def _resolve(target: str, prefixes: list[str], index: Mapping[str, str | None]) -> str | None:
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    page = _PAGE.fullmatch(parts.path)
    place = page or _FOLDER.fullmatch(parts.path)
    name = _slug(unquote(place[place.lastindex or 0])) if place else ""
    if not name or name in index or not page:
        return index.get(name) if name else None
    fitting = [prefix + name for prefix in prefixes if prefix + name in index]
    return index[fitting[0]] if len(fitting) == 1 else None


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[\W_]+", "-", plain).strip("-")
