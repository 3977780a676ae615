"""Which images only decorate: icons, spacers, rules, glyphs of notes, logos.

Judged by size, place and role, never by the name of a single image.
"""

import posixpath
import re

from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.html.admonitions import ADMONITION_WORDS, in_admonition
from kb_pipeline.steps.html.dom import BLOCKS, Element, text_of
from kb_pipeline.steps.html.placeholders import without_placeholders

_ICON = 32
_INLINE_ICON = 64
_HAIRLINE = 3
_SENTENCE = 2
_LOGO = re.compile(r"(?:^|[\W_])logo(?:[\W_]|$)", re.I)
_WORD = re.compile(r"[^\W_]+")


def is_decorative(image: Element, info: ImageInfo) -> bool:
    """Whether the image carries no content of its own where it stands. Sizes are in pixels."""
    largest, smallest = max(info.width, info.height), min(info.width, info.height)
    unsized = largest == 0
    if not unsized and (largest <= _ICON or smallest <= _HAIRLINE):
        return True
    if (image.get("role") or "").lower() in ("presentation", "none") and largest <= _INLINE_ICON:
        return True
    if is_glyph(image) and (largest <= _INLINE_ICON or info.format.upper() == "SVG"):
        return True
    if unsized:
        return _stands_in_sentence(image) or _is_bare_link(image)
    if largest <= _INLINE_ICON:
        # Without words of its own it may be what the sentence is about: "the pointer becomes: ...".
        return _stands_in_sentence(image) and says_something(image)
    return is_logo(image)


def is_glyph(image: Element) -> bool:
    """Whether the image is the sign of a note: its words say so already."""
    if _plain(image.get("alt") or "") in ADMONITION_WORDS:
        return True
    stem = posixpath.splitext(posixpath.basename(image.get("src") or ""))[0]
    return in_admonition(image) and _plain(stem) in ADMONITION_WORDS


def says_something(image: Element) -> bool:
    """Whether the alternative text is words for a reader, not the file's name or a generic word."""
    alt = " ".join((image.get("alt") or "").split())
    source = posixpath.basename(image.get("src") or "").lower()
    if not _WORD.search(alt) or alt.lower() in (source, posixpath.splitext(source)[0]):
        return False
    generic = alt.lower() in {"image", "img", "icon", "picture", "figure", "graphic", "screenshot", "photo", "spacer"}
    return not generic and not re.search(r"\.(?:png|jpe?g|gif|svg|webp|bmp|image|tiff?)$", alt, re.I)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _stands_in_sentence(image: Element) -> bool:
    """Whether words stand on the image's own line: in its block, not in blocks beside it."""
    line = next(image.iterancestors(*BLOCKS), None)
    if line is None:
        return False
    beside = [line.text or ""]
    for child in line:
        beside += [*(child.itertext() if child.tag not in BLOCKS else ()), child.tail or ""]
    return len(_WORD.findall(without_placeholders("".join(map(str, beside))))) > _SENTENCE


def _is_bare_link(image: Element) -> bool:
    parent = image.getparent()
    return parent is not None and parent.tag == "a" and not text_of(parent)


def is_logo(image: Element) -> bool:
    """Whether the image is a logo that leads to some home page."""
    source = posixpath.splitext(posixpath.basename(image.get("src") or ""))[0]
    return bool(_LOGO.search(image.get("alt") or "") or _LOGO.search(source)) and _is_bare_link(image)
