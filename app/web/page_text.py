"""A fetched page as text: its main content, with tables and code, without navigation, links, images and scripts."""

import hashlib
import re
from email.message import Message
from urllib.parse import unquote, urlsplit

from app.web.base import WebPage
from app.web.excerpt import cut
from kb_pipeline.errors import ArticleError, WebError
from kb_pipeline.steps.chunk.plain import FENCE_LINE, plain_text
from kb_pipeline.steps.html.convert import convert_html
from kb_pipeline.steps.html.decode import in_utf_8

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
_LINK = re.compile(
    r"(\\.)|!?\[((?:[^\[\]\\\n]|\\.)*+)\]\((?:<[^<>\n]*+>|(?:[^()\s]|\([^()\s]*+\))*+)(?:\s+\"[^\"\n]*+\")?\)"
)
_BARE_LINK = re.compile(r"(\\.)|<((?:https?|ftp|mailto):[^<>\s]*+)>", re.IGNORECASE)


def page_of(url: str, body: bytes, content_type: str, fetched_at: str, most_characters: int) -> WebPage:
    """The page that these bytes are; its ``text`` has at most so many characters, and a mark where it was cut.

    Raises:
        WebError: they are neither HTML nor text, or hold nothing to read.
    """
    sha256 = hashlib.sha256(body).hexdigest()
    kind = Message()
    kind["content-type"] = content_type or "text/html"
    media_type, charset = kind.get_content_type(), kind.get_content_charset()
    body = in_utf_8(body, charset)
    if media_type in _TEXT:
        title, markdown = _name(url), body.decode("utf-8", "replace").strip()
    elif media_type in _HTML:
        try:
            converted = convert_html(_name(url), body, {})
        except ArticleError as exc:
            raise WebError(f"the page at {urlsplit(url).hostname} holds nothing to read", "not a page") from exc
        title, markdown = converted.title, without_links(converted.markdown)
    else:
        raise WebError(f"{urlsplit(url).hostname} sent {media_type}, which is no page", "not a page")
    if not markdown:
        raise WebError(f"the page at {urlsplit(url).hostname} is empty", "not a page")
    text = cut(plain_text(markdown), most_characters)
    return WebPage(url, title, text, fetched_at, sha256, markdown)


def without_links(markdown: str) -> str:
    """Markdown in which the words of links stand without the links; code is unchanged."""
    segments = FENCE_LINE.split(markdown)
    fences = FENCE_LINE.findall(markdown)
    for at in range(0, len(segments), 2):
        for pattern in (_LINK, _BARE_LINK):
            segments[at] = pattern.sub(lambda match: match[1] or match[2], segments[at])
    return "".join(part for pair in zip(segments, [*fences, ""], strict=True) for part in pair).strip()


def _name(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2])[:200] or parts.hostname or url
