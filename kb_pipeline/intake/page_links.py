"""Rewrites the addresses in a page or a Markdown text, and nothing else of it.

The text is not parsed and written again, so that whatever its author wrote reaches the conversion as it was. All
patterns take time in proportion to the text, however hostile it is.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from kb_pipeline.steps.html.picture_sources import LATE_SOURCES

Rewrite = Callable[[str], str | None]
"""The new address, or ``None`` to leave it as it is."""

_VALUE = r"""\"[^\"]*\"|'[^']*'|[^\s\"'><]+"""
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title|xmp)\b.*?(?:</\1\s*>|\Z)"
    # outside of quotes a "<" ends the search, or each of many unclosed tags would be searched to the end of the page
    rf"|<(a|area|amp-img|img|image|input|source|object)\b((?:[^><=]|=\s*+(?:{_VALUE})?)*+)>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"([^\s=\"'></]+)(\s*+=\s*+)({_VALUE})")
_LINKS = frozenset({"href"})
_PICTURES = frozenset({"src", "srcset", "data", "href"})

# fenced blocks and code spans are skipped; of the rest, inline links and pictures, and definitions of references
_CODE = re.compile(
    r"^(`{3,}|~{3,}).*?(?:^\1[`~]*[ \t]*$|\Z)|(`+)(?!`).{1,2000}?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)
_INLINE = re.compile(r"(!?)(\[(?:[^\[\]\\\n]|\\.|!?\[[^\[\]\n]*\](?:\([^()\n]*\))?)*+\]\(\s*)(<[^<>\n]*>|[^\s()<>]+)")
_DEFINITION = re.compile(r"^( {0,3}\[[^\[\]\n]+\]:[ \t]+)(<[^<>\n]*>|\S+)", re.MULTILINE)
_MOST_MARKDOWN = 2_000_000
"""Characters; the links of a longer text stay as they are."""


def rewrite_page(html: str, link: Rewrite, picture: Rewrite) -> str:
    """Rewrite the addresses of links and pictures of a page."""

    def rewritten(match: re.Match[str]) -> str:
        tag, attributes = match[2], match[3]
        if tag is None or attributes is None:
            return match[0]
        is_link = tag.lower() in ("a", "area")
        names, rewrite = (_LINKS, link) if is_link else (_PICTURES, picture)
        changed = _ATTRIBUTE.sub(lambda each: _attribute(each, names, rewrite), attributes)
        return f"<{tag}{changed}>"

    return _TAG.sub(rewritten, html)


def _attribute(match: re.Match[str], names: frozenset[str], rewrite: Rewrite) -> str:
    name, equals, value = match.groups()
    if name.lower() not in names and not (names is _PICTURES and LATE_SOURCES.fullmatch(name.lower())):
        return match[0]
    address = unescape(value[1:-1] if value[0] in "\"'" else value).strip()
    if name.lower().endswith("srcset") and not address.startswith("data:"):
        address = next(iter(address.split(",")[0].split()), "")
    new = rewrite(address) if address else None
    return match[0] if new is None else f'{name}{equals}"{escape(new)}"'


def rewrite_markdown(text: str, link: Rewrite, picture: Rewrite) -> str:
    """Rewrite the addresses of links and pictures of a Markdown text, also those in HTML in it."""
    if len(text) > _MOST_MARKDOWN:
        return text
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_prose(text[end : code.start()], link, picture), code[0]]
        end = code.end()
    return "".join([*parts, _prose(text[end:], link, picture)])


def _prose(text: str, link: Rewrite, picture: Rewrite) -> str:
    def inline(match: re.Match[str]) -> str:
        # a linked picture is the text of a link
        label = _INLINE.sub(inline, match[2]) if "](" in match[2][:-2] else match[2]
        return f"{match[1]}{label}{_address(match[3], picture if match[1] else link)}"

    text = _INLINE.sub(inline, text)
    text = _DEFINITION.sub(lambda match: f"{match[1]}{_address(match[2], _either(link, picture))}", text)
    return rewrite_page(text, link, picture)


def _address(written: str, rewrite: Rewrite) -> str:
    new = rewrite(unescape(written.strip("<>")))
    return written if new is None else f"<{new}>" if " " in new else new


def _either(link: Rewrite, picture: Rewrite) -> Rewrite:
    """A definition does not say whether a link or a picture uses it."""
    return lambda address: link(address) or picture(address)
