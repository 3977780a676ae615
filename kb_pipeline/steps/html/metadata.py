"""What a page says about itself: title, address, language, topics.

Not here: what ``metadata.json`` says, which wins over the page.
"""

import re
from typing import NamedTuple

from kb_pipeline.steps.html.dom import Element, text_of

_SITE_SEPARATOR = re.compile(r"\s+(?:[|·•—–»]|::|-)\s+")
_COLON = re.compile(r":\s+")
_URL = re.compile(r"https?://[^\s<>\"]+$")
_ADDRESS_NAMES = ("og:url", "dc.identifier", "dc.source", "twitter:url")
_TOPIC_NAMES = ("keywords", "dc.subject", "article:tag", "news_keywords")


class Metadata(NamedTuple):
    """What the head of a page and its first heading tell."""

    title: str
    source_url: str | None
    language: str | None
    key_topics: tuple[str, ...]


def read_metadata(page: Element) -> Metadata:
    """Read a page's own metadata; the title is its tag's, without the site's name."""
    meta = _meta(page)
    return Metadata(_title(page, meta), _source_url(page, meta), _language(page, meta), _key_topics(meta))


def _meta(page: Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in page.iter("meta"):
        name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
        content = " ".join((element.get("content") or "").split())
        if name and content:
            # Repeated names (DC.Subject, article:tag) hold one topic each.
            found[name] = f"{found[name]}, {content}" if name in found and name in _TOPIC_NAMES else content
    return found


def _title(page: Element, meta: dict[str, str]) -> str:
    """The part of the title tag that a heading repeats, else the only h1, else the tag without its last part."""
    headings = [(heading.tag, text_of(heading).rstrip("¶#").strip()) for heading in page.iter("h1", "h2", "h3")]
    texts = [text for _, text in headings if text]
    title = next(map(text_of, page.iter("title")), "") or meta.get("og:title") or meta.get("dc.title") or ""
    for part in (title, *_SITE_SEPARATOR.split(title), *_COLON.split(title, maxsplit=1)):
        if part and part in texts:
            return part
    top = [text for tag, text in headings if tag == "h1" and text]
    if len(top) == 1:
        return top[0]
    last = next(reversed(list(_SITE_SEPARATOR.finditer(title))), None)
    return (title[: last.start()] if last else title) or next(iter(texts), "")


def _source_url(page: Element, meta: dict[str, str]) -> str | None:
    canonical = [link.get("href") or "" for link in page.iter("link") if "canonical" in (link.get("rel") or "").lower()]
    for address in (*canonical, *(meta.get(name, "") for name in _ADDRESS_NAMES)):
        if _URL.match(address.strip()):
            return address.strip()
    return None


def _language(page: Element, meta: dict[str, str]) -> str | None:
    html = page.getroottree().getroot()
    declared = html.get("lang") or html.get("xml:lang") or html.get("{http://www.w3.org/XML/1998/namespace}lang")
    return (declared or meta.get("dc.language") or meta.get("content-language") or "").strip() or None


def _key_topics(meta: dict[str, str]) -> tuple[str, ...]:
    topics = [topic.strip() for name in _TOPIC_NAMES for topic in re.split("[,;]", meta.get(name, ""))]
    return tuple(dict.fromkeys(topic for topic in topics if topic))
