"""What a crawl needs to know of a page: where it leads, what it shows, and whether it is an article. Pure."""

import re
from collections.abc import Iterator

from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.prose import is_refresh, why_no_article
from kb_pipeline.intake.website.addresses import whole
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.dom import Element, parse
from kb_pipeline.steps.html.page import find_main_content, remove_furniture, visible_body

FACTS_VERSION = 3
"""Increase it whenever the same page would give other facts."""

AGENT = "kb-pipeline"
"""How pages and ``robots.txt`` call whoever takes in articles."""
_NO_INDEX = frozenset({"noindex", "none"})
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]\s*(?:url\s*=\s*)?['\"]?\s*([^'\"]+)", re.IGNORECASE)


_WRITTEN_ANEW = re.compile(
    # limits of length keep the time in proportion to the page
    r"<!--.*?(?:-->|\Z)"
    # formulas and facts stand in scripts of other types
    r"|<script\b(?![^<>]{0,500}\btype\s*=\s*[\"']?[^\"'<>]{0,100}(?:json|math))[^<>]*>.*?(?:</script\s*>|\Z)"
    r"|<input\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?hidden\b[^<>]{0,2000}>|<meta\b[^<>]{0,500}\bcsrf[^<>]{0,2000}>"
    r"|\snonce\s{0,9}=\s{0,9}(?:\"[^\"<>]{0,500}\"|'[^'<>]{0,500}')",
    re.IGNORECASE | re.DOTALL,
)
"""Comments, programs, and the tokens of forms and sessions."""


class PageFacts(Record):
    """What a page says of itself.

    Attributes:
        base: what its addresses are seen from.
        canonical: the address that it says it has.
        no_index: whether it asks not to be found.
        why_none: why it is no article; "" if it is one.
        words: how many it shows without its scripts.
        content: a hash of the page without what readers never see and servers write anew in each answer.
        shows: a hash of the words and pictures of its main content.
        moved: where it sends whoever opens it.
        links: the addresses of pages that it leads to.
        pictures: the addresses of its pictures.
    """

    base: str
    canonical: str = ""
    no_index: bool = False
    why_none: str = ""
    words: int = 0
    content: str = ""
    shows: str = ""
    moved: str = ""
    links: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


def read_page(address: str, html: str, header: str = "") -> PageFacts:
    """Read a page; ``header`` is what its server said about robots."""
    page = parse(html)
    if page is None:
        return PageFacts(base=address, why_none="it is empty")
    base = next((found for each in page.iter("base") if (found := whole(each.get("href") or "", address))), address)
    says = {*_wishes_of(header), *_wishes(page)}
    pictures: dict[str, None] = {}
    rewrite_page(html, lambda _: None, lambda picture: _note(pictures, picture, base))
    links = () if says & {"nofollow", "none"} else tuple(dict.fromkeys(_links(page, base)))
    canonical = next(filter(None, (whole(each, base) for each in _canonicals(page))), "")
    why_none = why_no_article(html)
    refreshes = next((found for each in page.iter("meta") if (found := whole(_refresh(each), base))), "")
    body = visible_body(page)
    words = _words(body)
    remove_furniture(body)
    return PageFacts(
        base=base,
        canonical=canonical,
        no_index=not says.isdisjoint(_NO_INDEX),
        why_none=why_none,
        words=len(words),
        content=fingerprint(_WRITTEN_ANEW.sub("", html))[:32],
        shows=fingerprint(_words(find_main_content(body)), list(pictures))[:32],
        moved=refreshes if why_none and refreshes != address else "",
        links=links,
        pictures=tuple(pictures),
    )


def _note(pictures: dict[str, None], picture: str, base: str) -> None:
    if found := whole(picture, base):
        pictures[found] = None


def not_found_by(header: str) -> bool:
    """Whether a server asks by its header that something is not found."""
    return not _NO_INDEX.isdisjoint(_wishes_of(header))


def _wishes(page: Element) -> Iterator[str]:
    for meta in page.iter("meta"):
        if (meta.get("name") or "").strip().lower() in ("robots", AGENT):
            yield from re.split(r"[\s,]+", (meta.get("content") or "").lower())


def _wishes_of(header: str) -> Iterator[str]:
    """What a server asks of robots; words for those of other names are not for us."""
    for rule in header.lower().split(","):
        name, mark, words = rule.partition(":")
        if not mark or name.strip() in (AGENT, "unavailable_after", "max-snippet", "max-image-preview"):
            yield from (words if mark else rule).split()


def _canonicals(page: Element) -> Iterator[str]:
    for link in page.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            yield link.get("href") or ""


def _refresh(meta: Element) -> str:
    """Where an element of the head sends whoever opens the page."""
    match = _REFRESH.match(meta.get("content") or "") if is_refresh(meta) else None
    return match[1] if match else "data:"


def _words(element: Element) -> list[str]:
    return [word for text in element.itertext() for word in str(text).split()]


def _links(page: Element, base: str) -> Iterator[str]:
    for element in page.iter("a", "area", "frame", "meta"):
        address = element.get("src" if element.tag == "frame" else "href") or _refresh(element)
        is_followed = "nofollow" not in (element.get("rel") or "").lower().split()
        if is_followed and (found := whole(address, base)):
            yield found
