"""Images: every content image becomes a marker at its place, every other one its words or nothing."""

from collections.abc import Mapping
from typing import NamedTuple

from kb_pipeline.records import ImageInfo, ImageReference
from kb_pipeline.steps.html.captions import caption_of
from kb_pipeline.steps.html.decorative_images import is_decorative, is_glyph, is_logo, says_something
from kb_pipeline.steps.html.dom import BLOCKS, Element, replace_with_text, text_of
from kb_pipeline.steps.html.image_files import ImageFiles
from kb_pipeline.steps.html.image_stems import Stems
from kb_pipeline.steps.html.placeholders import Placeholders, without_placeholders
from kb_pipeline.steps.markers import image_marker

_ICON_WORDS = frozenset({"icon", "button", "image", "symbol", "the", "a"})
_LINE = 1000
_LAZY = ("src", "data-src", "data-original", "data-lazy-src", "srcset", "data-srcset")


class PlacedImages(NamedTuple):
    """What became of an article's images. ``places`` maps a marker's placeholder to its file."""

    references: dict[str, ImageReference]
    places: dict[str, str]
    decorative: int
    warnings: tuple[str, ...]

    def with_contexts(self, contexts: Mapping[str, str]) -> tuple[ImageReference, ...]:
        """The references, each with the text before its image."""
        return tuple(
            reference.model_copy(update={"context": contexts.get(file, "")})
            for file, reference in self.references.items()
        )


def place_images(main: Element, images: Mapping[str, ImageInfo], placeholders: Placeholders) -> PlacedImages:
    """Replace all images of the main content, in place; contexts are filled in later."""
    files, stems = ImageFiles(images), Stems()
    placed = PlacedImages({}, {}, 0, ())
    warnings: list[str] = []
    decorative = 0
    for image in list(main.iter("img", "image")):
        found = _find(image, files)
        in_code = next(image.iterancestors("pre"), None) is not None
        if isinstance(found, str):
            warnings.append(found)
            replace_with_text(image, "" if in_code else _words(image))
        elif in_code:
            decorative += 1
            replace_with_text(image, "")
        elif is_decorative(image, found):
            decorative += 1
            replace_with_text(image, _words(image) if _has_company(image) else "")
        else:
            if found.file not in placed.references:
                placed.references[found.file] = _reference(image, found, stems)
            place = placeholders.add(image_marker(found.file))
            placed.places[place] = found.file
            _place(image, place)
    return placed._replace(decorative=decorative, warnings=tuple(warnings))


def _find(image: Element, files: ImageFiles) -> ImageInfo | str:
    """The file behind the first address that has one; lazily loaded images hide theirs."""
    problems = []
    for name in _LAZY:
        source = (image.get(name) or "").strip()
        if source:
            found = files.find(source.split(",")[0].split()[0] if name.endswith("srcset") else source)
            if isinstance(found, ImageInfo):
                return found
            problems.append(found)
    return problems[0] if problems else files.find("")


def _reference(image: Element, info: ImageInfo, stems: Stems) -> ImageReference:
    return ImageReference(
        file=info.file,
        stem=stems.take(info.file),
        sha256=info.sha256,
        alt=" ".join((image.get("alt") or "").split()) if says_something(image) else "",
        caption=caption_of(image),
    )


def _place(image: Element, place: str) -> None:
    """Put the marker at the image's place, but outside of a link, emphasis or code around it."""
    outermost = image
    for ancestor in image.iterancestors():
        if ancestor.tag in BLOCKS:
            break
        outermost = ancestor
    if outermost is image:
        replace_with_text(image, f" {place} ")
        return
    words = text_of(outermost)
    after = bool(words) and not _text_after(image, outermost)
    # A link that held nothing but the image keeps its target under the image's own words.
    keeps_link = outermost.tag == "a" and not words and not _leads_to_image(outermost)
    replace_with_text(image, _words(image) if keeps_link else "")
    marker = image.makeelement("span")
    marker.text = f" {place} "
    if after:
        marker.tail, outermost.tail = outermost.tail, None
        outermost.addnext(marker)
    else:
        outermost.addprevious(marker)


def _text_after(image: Element, ancestor: Element) -> bool:
    """Whether text follows the image inside that ancestor."""
    element: Element | None = image
    while element is not None and element is not ancestor:
        if (element.tail or "").strip() or any(text_of(sibling) for sibling in element.itersiblings()):
            return True
        element = element.getparent()
    return False


def _leads_to_image(link: Element) -> bool:
    target = (link.get("href") or "").lower().split("?")[0]
    return target.endswith((".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".image"))


def _words(image: Element) -> str:
    """What the image's alternative text adds to the words around it."""
    if not says_something(image) or is_glyph(image) or is_logo(image):
        return ""
    alt = " ".join((image.get("alt") or "").split())
    line = next(image.iterancestors(*BLOCKS), image)
    around = text_of(line, _LINE).lower().split()
    return "" if all(word in around for word in alt.lower().split() if word not in _ICON_WORDS) else alt


def _has_company(image: Element) -> bool:
    """Whether the image stands among words or in a cell or item, where leaving it out would leave a gap."""
    for ancestor in image.iterancestors():
        if ancestor.tag in ("td", "th", "li", "dt"):
            return True
        if ancestor.tag in BLOCKS:
            return bool(without_placeholders(text_of(ancestor)).strip())
    return False
