"""Images: replace every content image by a marker, and every other image by its alternative text or nothing.

Also here: safe names for served images, and the text before an image. Not here: the staged file of an image
(``picture_sources``) and the words around images (``beside_images``).
"""

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from lxml import etree

from kb_pipeline.records import ImageInfo, ImageProblem, ImageReference
from kb_pipeline.steps.html.admonitions import ADMONITION_WORDS, in_admonition
from kb_pipeline.steps.html.beside_images import BesideImages
from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element, is_block, is_inside, replace_with_text, text_of
from kb_pipeline.steps.html.image_files import ImageFiles
from kb_pipeline.steps.html.picture_sources import find_file
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, Placeholders, without_placeholders
from kb_pipeline.steps.markers import image_marker

_ICON = 32
"""Pixels: the usual largest size of icons that stand beside words."""
_INLINE_ICON = 64
"""Pixels: icons on screens of twice the density, where something else also says that it is one."""
_HAIRLINE = 3
"""Pixels: a rule or a spacer."""
_SENTENCE = 2
"""Words on the line of an image from which it stands in a sentence; two are a label."""
_LOGO = re.compile(r"(?:^|[\W_])logo(?:[\W_]|$)", re.I)
_WORD = re.compile(r"[^\W_]+")
_GENERIC = frozenset({"image", "img", "icon", "picture", "figure", "graphic", "screenshot", "photo", "spacer"})
_FILE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|image|tiff?)$", re.I)
_LONGEST_SIGN = 8
"""Characters of an emoji, which may be made of several."""


def is_decorative(image: Element, info: ImageInfo, beside: BesideImages) -> bool:
    """Return whether the image has no content of its own in its place. Sizes are in pixels."""
    largest, smallest = max(info.width, info.height), min(info.width, info.height)
    unsized = largest == 0
    if not unsized and (largest <= _ICON or smallest <= _HAIRLINE):
        return True
    if (image.get("role") or "").lower() in ("presentation", "none") and largest <= _INLINE_ICON:
        return True
    if is_glyph(image) and (largest <= _INLINE_ICON or info.format.upper() == "SVG"):
        return True
    is_in_sentence = largest <= _INLINE_ICON and beside.words_on_line(image) > _SENTENCE
    if unsized:
        return is_in_sentence or _is_bare_link(image, beside)
    if largest <= _INLINE_ICON:
        # Without an alternative text it may be what the sentence is about: "the pointer becomes: ...".
        return is_in_sentence and says_something(image)
    return is_logo(image, beside)


def is_glyph(image: Element) -> bool:
    """Return whether the image is the sign of a note, whose meaning the note's own words repeat."""
    if _plain(image.get("alt") or "") in ADMONITION_WORDS:
        return True
    stem = posixpath.splitext(posixpath.basename(image.get("src") or ""))[0]
    return in_admonition(image) and _plain(stem) in ADMONITION_WORDS


def says_something(image: Element) -> bool:
    """Return whether the alternative text is meant for readers, and is not the file's name or a generic word."""
    alt = " ".join((image.get("alt") or "").split())
    source = posixpath.basename(image.get("src") or "").lower()
    if not _WORD.search(alt) or alt.lower() in (source, posixpath.splitext(source)[0]):
        return False
    return alt.lower() not in _GENERIC and not _FILE.search(alt)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _is_bare_link(image: Element, beside: BesideImages) -> bool:
    parent = image.getparent()
    return parent is not None and parent.tag == "a" and not beside.has_text(parent)


def is_logo(image: Element, beside: BesideImages) -> bool:
    """Return whether the image is a linked logo."""
    source = posixpath.splitext(posixpath.basename(image.get("src") or ""))[0]
    return bool(_LOGO.search(image.get("alt") or "") or _LOGO.search(source)) and _is_bare_link(image, beside)


# Not allowed in names on some file system, or in markdown links: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*\[\]`\ud800-\udfff]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.I)
_LONGEST_STEM = 100
"""Characters of a served name: with its number and ending far below the 255 of file systems."""


class Stems:
    """Gives every image file of an article a unique stem, also on file systems that ignore case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last_number: dict[str, int] = {}

    def take(self, file: str) -> str:
        """Return a safe stem close to the file's name, with ``-2``, ``-3`` ... if it is taken."""
        preferred = safe_stem(file)
        key = preferred.casefold()
        stem, number = preferred, self._last_number.get(key, 1)
        while stem.casefold() in self._taken:
            number += 1
            stem = f"{preferred}-{number}"
        self._taken.add(stem.casefold())
        self._last_number[key] = number  # a folder may have thousands of files of one name, in subfolders
        return stem


def safe_stem(file: str) -> str:
    """Return the file's name without folder and extension, in characters that every file system accepts."""
    name = posixpath.splitext(posixpath.basename(unicodedata.normalize("NFC", file)))[0]
    name = " ".join(_UNSAFE.sub("-", name).split())[:_LONGEST_STEM].strip(" .")
    return f"{name}-image" if _RESERVED.fullmatch(name) else name or "image"


_ICON_WORDS = frozenset({"icon", "button", "image", "symbol", "the", "a"})
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".image")


class PlacedImages(NamedTuple):
    """The images of an article; ``places`` maps the placeholder of each marker to its file.

    ``lost`` are content images that belong in the article's folder, and are missing there or cannot be decoded.
    """

    references: dict[str, ImageReference]
    places: dict[str, str]
    decorative: int
    warnings: tuple[str, ...]
    lost: tuple[ImageProblem, ...]

    def with_contexts(self, contexts: Mapping[str, str]) -> tuple[ImageReference, ...]:
        """Return the references, each with the text before its image."""
        return tuple(
            reference.model_copy(update={"context": contexts.get(file, "")})
            for file, reference in self.references.items()
        )


def place_images(main: Element, images: Mapping[str, ImageInfo], placeholders: Placeholders) -> PlacedImages:
    """Replace all images of the main content, in place; the contexts are added later."""
    files, stems, beside = ImageFiles(images), Stems(), BesideImages()
    placed = PlacedImages({}, {}, 0, (), ())
    warnings: list[str] = []
    lost: list[ImageProblem] = []
    decorative = 0
    section = ""
    for image in list(main.iter("img", "image", *HEADINGS)):
        if image.tag in HEADINGS:
            section = without_placeholders(text_of(image)).strip()
            continue
        info = find_file(image, files)
        in_code = is_inside(image, "pre")
        if isinstance(info, ImageProblem):
            warnings.append(info.problem)
            if info.file and not in_code and not _was_decorative(image, *files.size_of(info.file), beside):
                lost.append(info.model_copy(update={"section": section}))
            _replace(image, "" if in_code else _alternative(image, beside), beside)
        elif in_code:
            decorative += 1
            _replace(image, "", beside)
        elif is_decorative(image, info, beside):
            decorative += 1
            _replace(image, _alternative(image, beside) if _leaves_gap(image, beside) else "", beside)
        else:
            if info.file not in placed.references:
                placed.references[info.file] = _reference(image, info, stems, section, beside)
            place = placeholders.add(image_marker(info.file))
            placed.places[place] = info.file
            _place(image, place, beside)
    return placed._replace(decorative=decorative, warnings=tuple(warnings), lost=tuple(lost))


def _replace(image: Element, words: str, beside: BesideImages) -> None:
    beside.put_in(image, words)
    replace_with_text(image, words)


def _was_decorative(image: Element, width: int, height: int, beside: BesideImages) -> bool:
    """Return whether an image that cannot be shown is known to have no content of its own.

    Width and height are in pixels, 0 if its file does not say them. Without any size, only what the page says of the
    image's purpose counts: nobody knows what it shows.
    """
    width, height = (width, height) if width and height else (_pixels(image, "width"), _pixels(image, "height"))
    if not width and not height:
        role = (image.get("role") or "").lower()
        return role in ("presentation", "none") or is_glyph(image) or is_logo(image, beside)
    return is_decorative(image, ImageInfo(file="", sha256="", width=width or height, height=height or width), beside)


def _pixels(image: Element, name: str) -> int:
    match = re.fullmatch(r"([0-9]{1,6})(?:px)?", (image.get(name) or "").strip(), re.I)
    return int(match[1]) if match else 0


def _reference(image: Element, info: ImageInfo, stems: Stems, section: str, beside: BesideImages) -> ImageReference:
    return ImageReference(
        file=info.file,
        stem=stems.take(info.file),
        sha256=info.sha256,
        alt=" ".join((image.get("alt") or "").split()) if says_something(image) else "",
        caption=beside.caption_of(image),
        section=section,
    )


def _place(image: Element, place: str, beside: BesideImages) -> None:
    """Insert the marker at the image's place, but outside of a link, emphasis or code around it."""
    outermost = image
    for ancestor in image.iterancestors():
        if ancestor.tag in BLOCKS:
            break
        outermost = ancestor
    if outermost is image:
        replace_with_text(image, f" {place} ")
        return
    has_text = beside.has_text(outermost)
    follows_words = has_text and not beside.is_followed_by_text(image, outermost)
    # A link that contains only the image keeps its target, labelled with the alternative text.
    target = (outermost.get("href") or "").lower().split("?")[0]
    keeps_link = outermost.tag == "a" and not has_text and not target.endswith(_IMAGE_ENDINGS)
    _replace(image, _alternative(image, beside) if keeps_link else "", beside)
    marker = image.makeelement("span")
    marker.text = f" {place} "
    if follows_words:
        marker.tail, outermost.tail = outermost.tail, None
        outermost.addnext(marker)
    else:
        outermost.addprevious(marker)


def _alternative(image: Element, beside: BesideImages) -> str:
    """Return the alternative text if it adds to the words around the image, or is a sign or all that a cell says."""
    if sign := _sign_of(image, beside):
        return sign
    if not says_something(image) or is_glyph(image) or is_logo(image, beside):
        return ""
    alt = " ".join((image.get("alt") or "").split())
    return "" if beside.says(image, [word for word in alt.lower().split() if word not in _ICON_WORDS]) else alt


def _sign_of(image: Element, beside: BesideImages) -> str:
    """Return an emoji that a picture shows, or the name of a picture that fills a cell."""
    alt = " ".join((image.get("alt") or "").split())
    if len(alt) <= _LONGEST_SIGN and any(unicodedata.category(letter) == "So" for letter in alt):
        return alt
    block = next(image.iterancestors(*BLOCKS), None)
    name = alt or " ".join((image.get("title") or "").split())
    is_alone = block is not None and block.tag in ("td", "th") and not beside.has_words_on_line(image)
    is_name = is_alone and name.lower() not in _GENERIC and not _FILE.search(name)
    return name if is_name and not in_admonition(image) else ""


def _leaves_gap(image: Element, beside: BesideImages) -> bool:
    """Return whether removing the image would leave a gap, because it is among words or in a cell or item."""
    block = next(image.iterancestors(*BLOCKS), None)
    return block is not None and (block.tag in ("td", "th", "li", "dt") or beside.has_words_on_line(image))


_LONGEST_CONTEXT = 300
"""Characters before an image that a model is told: two or three sentences."""


def contexts_of(main: Element, places: dict[str, str], placeholders: Placeholders) -> dict[str, str]:
    """Return, for each image file, the words before its first marker: in the same block, else in the block before.

    ``places`` maps the placeholder of each marker to its file. Code and keys in a sentence are words, too.
    """
    contexts: dict[str, str] = {}
    before, block = "", ""
    for event, element in etree.iterwalk(main, events=("start", "end")) if places else ():
        if is_block(element) and block:
            before, block = _last_words(block) or before, ""
        text = str((element.text if event == "start" else element.tail) or "")
        done = 0
        for match in PLACEHOLDER.finditer(text):
            file = places.get(match[0])
            if file is not None and file not in contexts:
                block += placeholders.as_words(text[done : match.start()])
                done = match.start()
                contexts[file] = _last_words(block) or before
        # Only the end of a long block can be a context.
        block = (block + placeholders.as_words(text[done:]))[-4 * _LONGEST_CONTEXT :]
    return contexts


def _last_words(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_CONTEXT else "..." + words[3 - _LONGEST_CONTEXT :]
