"""What a crawl needs to know of a page: where it leads, what it shows, and whether it is an article. Pure."""

import re
from collections.abc import Iterator

from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.prose import why_no_article
from kb_pipeline.intake.website.addresses import whole
from kb_pipeline.records import Record
from kb_pipeline.steps.html.dom import Element, parse
from kb_pipeline.steps.html.page import visible_body

FACTS_VERSION = 1
"""Increase it whenever the same page would give other facts."""

AGENT = "kb-pipeline"
"""How pages and ``robots.txt`` call whoever takes in articles."""
_NO_INDEX = frozenset({"noindex", "none"})
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]\s*(?:url\s*=\s*)?['\"]?\s*([^'\"]+)", re.IGNORECASE)


class PageFacts(Record):
    """What a page says of itself.

    Attributes:
        base: what its addresses are seen from.
        canonical: the address that it says it has.
        no_index: whether it asks not to be found.
        why_none: why it is no article; "" if it is one.
        words: how many it shows without its scripts.
        links: the addresses of pages that it leads to.
        pictures: the addresses of its pictures.
    """

    base: str
    canonical: str = ""
    no_index: bool = False
    why_none: str = ""
    words: int = 0
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
    return PageFacts(
        base=base,
        canonical=next(filter(None, (whole(each, base) for each in _canonicals(page))), ""),
        no_index=not says.isdisjoint(_NO_INDEX),
        why_none=why_no_article(html),
        words=sum(len(str(text).split()) for text in visible_body(page).itertext()),
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


def _links(page: Element, base: str) -> Iterator[str]:
    for element in page.iter("a", "area", "frame", "meta"):
        if element.tag == "meta":
            is_refresh = (element.get("http-equiv") or "").lower() == "refresh"
            match = _REFRESH.match(element.get("content") or "") if is_refresh else None
            address = match[1] if match else ""
        else:
            address = element.get("src" if element.tag == "frame" else "href") or ""
        is_followed = "nofollow" not in (element.get("rel") or "").lower().split()
        if address and is_followed and (found := whole(address, base)):
            yield found
