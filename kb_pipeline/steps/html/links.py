"""Hyperlinks: which of them lead somewhere, and what they are called."""

import re

from kb_pipeline.records import Link
from kb_pipeline.steps.html.dom import (
    BLOCKS,
    HEADINGS,
    Element,
    classes,
    dissolve,
    has_text,
    is_block,
    names,
    text_of,
    wrap_content,
)
from kb_pipeline.steps.html.placeholders import without_placeholders

_CONTROLS = re.compile(r"[\x00-\x1f]+")
"""Browsers read an address without tabs and newlines; no other control character belongs in one."""
_UNSAFE = re.compile(r"\s*(?:javascript|data|vbscript)\s*:", re.I)
_PERMALINK_CLASSES = names(
    "headerlink permalink anchorjs-link heading-anchor hash-link anchor-link direct-link footnote-backref"
)
_PERMALINK_TEXTS = frozenset({"", "¶", "#", "§", "🔗", "∞", "link", "permalink", "anchor"})


def tidy_links(main: Element) -> None:
    """Leave only links with a label and a target a reader can follow; drop heading permalinks."""
    for link in list(main.iter("a")):
        target = _CONTROLS.sub("", link.get("href") or "").strip()
        if _is_permalink(link, target):
            tail = link.tail
            link.clear()
            link.tag, link.tail = "span", tail
        elif not target or _UNSAFE.match(target) or _wraps_own_heading(link, target):
            dissolve(link)
        elif any(map(is_block, link.iterdescendants())):
            _move_into_first_block(link, target)
        else:
            link.set("href", target)


def drop_empty_links(main: Element) -> None:
    """Take away links that nothing is left of, such as those around an image that has moved."""
    for link in list(main.iter("a")):
        if not has_text(link):
            dissolve(link)


def collect_links(main: Element) -> tuple[Link, ...]:
    """All hyperlinks in their order, with the label a reader sees."""
    found = (
        Link(label=without_placeholders(text_of(link)).strip(), target=link.get("href") or "")
        for link in main.iter("a")
    )
    return tuple(link for link in found if link.label)


def _is_permalink(link: Element, target: str) -> bool:
    if not _PERMALINK_CLASSES.isdisjoint(classes(link)):
        return True
    parent = link.getparent()
    in_heading = parent is not None and parent.tag in HEADINGS | {"dt"}
    return in_heading and target.startswith("#") and text_of(link).lower() in _PERMALINK_TEXTS


def _wraps_own_heading(link: Element, target: str) -> bool:
    """mdBook's headings are links to themselves."""
    parent = link.getparent()
    return parent is not None and parent.tag in HEADINGS and target.startswith("#") and "header" in classes(link)


def _move_into_first_block(link: Element, target: str) -> None:
    """A link around blocks (a card) becomes the link of the first block with text."""
    dissolve(link)
    link.tag = "div"
    for block in link.iter(*BLOCKS):
        if has_text(block) and not any(map(is_block, block.iterdescendants())):
            wrap_content(block, "a").set("href", target)
            return
