"""Makes HTML of the canvas of a page: its sections, columns and web parts.

A text web part holds what its author wrote. Of others it shows what is stored in the page: texts, links and pictures;
what they gather from elsewhere when the page is opened (news, events, lists of files) is not.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

_TITLES = "title"
_OF_TEXT_PARTS = re.compile(r'<(?:div|figure)\b[^<>]*\bdata-imageurl="([^"<>]*)"[^<>]*>', re.IGNORECASE)
"""A picture in the text of a web part, which scripts put in its place."""
_GROUP = re.compile(r".*\]")
"""What the keys of the texts, links and pictures of one entry begin with: ``items[0].title``."""


def html_of(canvas: Mapping[str, Any]) -> str:
    """The HTML of a page's canvas, without its title."""
    return "\n".join(filter(None, map(_part, _parts(canvas))))


def _parts(canvas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for section in canvas.get("horizontalSections") or ():
        for column in section.get("columns") or ():
            yield from column.get("webparts") or ()
    yield from (canvas.get("verticalSection") or {}).get("webparts") or ()


def _part(part: Mapping[str, Any]) -> str:
    if isinstance(text := part.get("innerHtml"), str):
        shown = _OF_TEXT_PARTS.sub(lambda match: f'{match[0]}<img src="{match[1]}" alt="">', text)
        return f"<div>{shown}</div>"
    data = part.get("data") or {}
    content = data.get("serverProcessedContent") or {}
    return "\n".join(_content(content, data.get("properties") or {}))


def _content(content: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[str]:
    texts, links, pictures = (_pairs(content, kind) for kind in ("searchablePlainTexts", "links", "imageSources"))
    if title := texts.pop(_TITLES, ""):
        yield f"<h2>{html.escape(title)}</h2>"
    caption = texts.pop("captionText", "")
    alt = str(properties.get("altText") or caption)
    shown = [f'<img src="{html.escape(source)}" alt="{html.escape(alt)}">' for source in pictures.values()]
    if shown and caption:
        yield f"<figure>{''.join(shown)}<figcaption>{html.escape(caption)}</figcaption></figure>"
    elif shown:
        yield f"<p>{''.join(shown)}</p>"
    yield from (f"<div>{written}</div>" for written in _pairs(content, "htmlStrings").values())
    for key, text in texts.items():
        yield _text(key, text, links)


def _text(key: str, text: str, links: Mapping[str, str]) -> str:
    written, group = html.escape(text), _GROUP.match(key)
    if key == "code":
        return f"<pre><code>{written}</code></pre>"
    link = next((address for name, address in links.items() if group and name.startswith(group[0])), "")
    return f'<p><a href="{html.escape(link)}">{written}</a></p>' if link else f"<p>{written}</p>"


def _pairs(content: Mapping[str, Any], kind: str) -> dict[str, str]:
    return {str(pair.get("key")): str(pair["value"]) for pair in content.get(kind) or () if pair.get("value")}
