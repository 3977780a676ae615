"""Find the links of an article that lead to other staged articles.

Documentation links in two ways: by the staged layout (``../other-article/index.html``, ``../manual/manual.pdf#page=3``,
``../report.pdf``, ``report.html``), and by the page names it was published under (``other-page.html``), which staging
tools turn into ids with a prefix for the whole set (``guide-other-page``). A target is resolved only if it is relative
and matches exactly one article that shares the prefix of the linking article. Nothing is guessed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from kb_pipeline.records import ArticleLink, Link
from kb_pipeline.steps.main_file import is_document

_PAGE = re.compile(r"(?:\./)?(?:\.\./(?:[^/.][^/]*/)?)?(?!index\.)([^/]+)\.(?:html?|xhtml)", re.I)
"""A page beside the article, in its parent folder, or in a sibling folder."""
_FOLDER = re.compile(r"(?:\./)?(?:\.\./)?(?:([^/]+)/(?:index\.\w+)?|([^/.]+))", re.I)
"""An article's folder, with or without its page."""
_FILE = re.compile(r"(?:\./)?(?:\.\./)?(?:([^/.][^/]*)/)?([^/]+)")
"""A file in an article's folder, or a loose one, whose name is the article's id."""


def name_index(article_ids: Iterable[str]) -> Mapping[str, str | None]:
    """Map the slug of every id to the id, or to None where several ids share a slug."""
    index: dict[str, str | None] = {}
    for article_id in article_ids:
        slug = _slug(article_id)
        index[slug] = None if slug in index else article_id
    return index


def article_links(links: Iterable[Link], own_id: str, index: Mapping[str, str | None]) -> tuple[ArticleLink, ...]:
    """Return the links that lead to another article of ``index`` (from :func:`name_index`), without duplicates."""
    own_slug = _slug(own_id)
    prefixes = [own_slug[: hyphen.end()] for hyphen in re.finditer("-", own_slug)]
    resolved = (
        ArticleLink(label=link.label, target=link.target, article_id=article_id)
        for link in links
        if (article_id := _resolve(link.target, prefixes, index)) and article_id != own_id
    )
    return tuple(dict.fromkeys(resolved))


def _resolve(target: str, prefixes: list[str], index: Mapping[str, str | None]) -> str | None:
    """The article that a target leads to: a document, a loose page, a page's name, or that name behind one prefix."""
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    match = _FILE.fullmatch(parts.path)
    folder, file = (unquote(part or "") for part in match.groups()) if match else ("", "")
    if is_document(file):
        article_id = index.get(_slug(folder or file))
        return article_id if folder or (article_id or "").casefold() == file.casefold() else None
    page = _PAGE.fullmatch(parts.path)
    if page and (loose := _loose_page(parts.path, index)):
        return loose
    match = page or _FOLDER.fullmatch(parts.path)
    slug = _slug(unquote(match[match.lastindex or 0])) if match else ""
    if not slug or slug in index or not page:
        return index.get(slug) if slug else None
    candidates = [prefix + slug for prefix in prefixes if prefix + slug in index]
    return index[candidates[0]] if len(candidates) == 1 else None


def _loose_page(path: str, index: Mapping[str, str | None]) -> str | None:
    """The article of a page that lies beside, or above the article's folder, whose id is the name of its file."""
    file = unquote(path).removeprefix("./").removeprefix("../")
    article_id = index.get(_slug(file))
    return article_id if (article_id or "").casefold() == file.casefold() else None


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name).casefold()).strip("-")
