"""Read the metadata of an HTML page: title, address, language, topics.

Not here: ``metadata.json``, which takes precedence.
"""

import re
from typing import NamedTuple

from kb_pipeline.steps.html.dom import Element, text_of

_SITE_SEPARATOR = re.compile(r"\s+(?:[|·•—–»]|::|-)\s+")
_CHAPTER = re.compile(r"(?:\d+|[A-Z])[.:)]?\s+\S+")
"""A chapter such as "1. Introduction", which every manual has; the sections in it have names of their own."""
_COLON = re.compile(r":\s+")
_URL = re.compile(r"https?://[^\s<>\"]+$")
_ADDRESS_NAMES = ("og:url", "dc.identifier", "dc.source", "twitter:url")
_TOPIC_NAMES = ("keywords", "dc.subject", "article:tag", "news_keywords")


class Metadata(NamedTuple):
    """Metadata from the head and the headings of a page."""

    title: str
    source_url: str | None
    language: str | None
    key_topics: tuple[str, ...]


def read_metadata(page: Element) -> Metadata:
    """Read a page's metadata; the title is that of its ``title`` tag, without the name of the site."""
    meta = _meta(page)
    topics = [topic.strip() for name in _TOPIC_NAMES for topic in re.split("[,;]", meta.get(name, ""))]
    key_topics = tuple(dict.fromkeys(topic for topic in topics if topic))
    return Metadata(_title(page, meta), _source_url(page, meta), _language(page, meta), key_topics)


def _meta(page: Element) -> dict[str, str]:
    values: dict[str, str] = {}
    for element in page.iter("meta"):
        name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
        content = " ".join((element.get("content") or "").split())
        if name and content:
            # Repeated names (DC.Subject, article:tag) have one topic each.
            values[name] = f"{values[name]}, {content}" if name in values and name in _TOPIC_NAMES else content
    return values


def _title(page: Element, meta: dict[str, str]) -> str:
    """Return the part of the title tag that is also a heading, else the only h1, else the tag without its last part.

    A numbered heading of one word tells less than the whole tag.
    """
    headings = [(heading.tag, text_of(heading).rstrip("¶#").strip()) for heading in page.iter("h1", "h2", "h3")]
    texts = [text for _, text in headings if text]
    title = next(map(text_of, page.iter("title")), "") or meta.get("og:title") or meta.get("dc.title") or ""
    for part in (title, *_SITE_SEPARATOR.split(title), *_COLON.split(title, maxsplit=1)):
        if part and part in texts:
            return _without_repetition(title) if _CHAPTER.fullmatch(part) else part
    h1_texts = [text for tag, text in headings if tag == "h1" and text]
    if len(h1_texts) == 1 and not (title and _CHAPTER.fullmatch(h1_texts[0])):
        return h1_texts[0]
    last_separator = next(reversed(list(_SITE_SEPARATOR.finditer(title))), None)
    return (title[: last_separator.start()] if last_separator else title) or next(iter(texts), "")


def _without_repetition(title: str) -> str:
    parts = [part.rstrip("¶# ") for part in _SITE_SEPARATOR.split(title)]
    return title if len(set(parts)) == len(parts) else " - ".join(dict.fromkeys(parts))


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
