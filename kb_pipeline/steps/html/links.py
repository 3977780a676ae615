"""Hyperlinks: keep those that lead somewhere, and collect them with their labels."""

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
    is_inside,
    names,
    replace_with_text,
    text_of,
    wrap_content,
)
from kb_pipeline.steps.html.placeholders import without_placeholders

_CONTROLS = re.compile(r"[\x00-\x1f]+")
"""Browsers drop tabs and newlines from addresses; other control characters are invalid."""
_UNSAFE = re.compile(r"\s*(?:javascript|data|vbscript)\s*:", re.I)
_PERMALINK_CLASSES = names(
    "headerlink permalink anchorjs-link heading-anchor hash-link anchor-link direct-link footnote-backref"
)
_EDITS = re.compile(r"[?&;](?:ve)?action=edit\b|[?&;]do=edit\b")
"""Addresses at which wikis let readers edit the section below a heading."""
_NO_WORDS = re.compile(r"[\W_]*")
_PERMALINK_TEXTS = frozenset({"", "¶", "#", "§", "🔗", "∞", "link", "permalink", "anchor"})


def tidy_links(main: Element) -> None:
    """Keep only links with a label and a target that readers can follow; remove permalinks of headings."""
    for link in list(main.iter("a")):
        target = _CONTROLS.sub("", link.get("href") or "").strip()
        if _is_permalink(link, target):
            replace_with_text(link, "")
        elif _EDITS.search(target) and is_inside(link, *HEADINGS):
            _remove_edit_link(link)
        elif not target or _UNSAFE.match(target) or _is_heading_of_mdbook(link, target):
            dissolve(link)
        elif any(map(is_block, link.iterdescendants())):
            _move_into_first_block(link, target)
        else:
            link.set("href", target)


def drop_empty_links(main: Element) -> None:
    """Dissolve links without text, such as those around an image that was moved out."""
    for link in list(main.iter("a")):
        if not has_text(link):
            dissolve(link)


def collect_links(main: Element) -> tuple[Link, ...]:
    """Return all hyperlinks in order, with the labels that readers see."""
    labelled = ((without_placeholders(text_of(link)).strip(), link.get("href") or "") for link in main.iter("a"))
    return tuple(Link(label=label, target=target) for label, target in labelled if label)


def _is_permalink(link: Element, target: str) -> bool:
    if not _PERMALINK_CLASSES.isdisjoint(classes(link)):
        return True
    in_heading = is_inside(link, *HEADINGS, "dt")
    return in_heading and target.startswith("#") and text_of(link).lower() in _PERMALINK_TEXTS


def _remove_edit_link(link: Element) -> None:
    """Remove a link for editing, and the brackets around it."""
    label, mark = text_of(link), link
    while (around := mark.getparent()) is not None and around.tag not in HEADINGS:
        if not _NO_WORDS.fullmatch(text_of(around).replace(label, "", 1)):
            break
        mark = around
    replace_with_text(mark, "")


def _is_heading_of_mdbook(link: Element, target: str) -> bool:
    """Return whether the link is the text of a heading and leads to it, as mdBook writes headings."""
    parent = link.getparent()
    return parent is not None and parent.tag in HEADINGS and target.startswith("#") and "header" in classes(link)


def _move_into_first_block(link: Element, target: str) -> None:
    """Move a link that wraps blocks (a card) into the first block with text."""
    dissolve(link)
    link.tag = "div"
    for block in link.iter(*BLOCKS):
        if has_text(block) and not any(map(is_block, block.iterdescendants())):
            wrap_content(block, "a").set("href", target)
            return
