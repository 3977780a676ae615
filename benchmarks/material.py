"""The material of generated articles: real pages, taken apart into shells, sections and pictures.

A shell is a page without its article: head, navigation, footer. Not here: composing articles (`benchmarks.generate`).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lxml import etree
from PIL import Image, UnidentifiedImageError

from kb_pipeline.errors import ImageError
from kb_pipeline.steps.html.dom import HEADINGS, Element, parse, replace_with_text, text_of
from kb_pipeline.steps.html.page import find_main_content, visible_body
from kb_pipeline.steps.images import flatten
from kb_pipeline.store.staging import INDEX_FILE

WORD = "\ufdd0"
"""Placeholder in a section for the article's own word (a noncharacter, which no real text contains)."""
PICTURE = "\ufdd1"
"""Placeholder in a section for a screenshot."""

_CONTENT = "\ufdd2"
_TEXT_END = re.compile(
    r"""(?:(?<=[\w)"”’])|(?<=\w</a>)|(?<=\w</span>)|(?<=</code>)|(?<=</em>))(?=[.!?:]?\s*</(?:p|li|dd)>)"""
)
_ICON_PIXELS = 64
_PICTURE_SIZE = (320, 200)
_MOST_PICTURES = 200


@dataclass(frozen=True)
class Section:
    """A heading and its content, with places for words and pictures, and the names of its icon files."""

    title: str
    html: str
    icons: frozenset[str]


@dataclass(frozen=True)
class Shell:
    """A page without its article; ``size`` is that of the HTML of its original article."""

    before: str
    after: str
    size: int
    icons: frozenset[str]


@dataclass(frozen=True)
class Material:
    """Everything taken from a set of real articles; ``icons`` are files by their name in generated articles."""

    shells: tuple[Shell, ...]
    sections: tuple[Section, ...]
    icons: dict[str, bytes]
    pictures: tuple[Image.Image, ...]


def load_material(stagings: Iterable[Path]) -> Material:
    """Take apart the articles of staging folders; the same folders give the same material.

    Raises:
        ValueError: no section of text was found.
    """
    shells: list[Shell] = []
    sections: list[Section] = []
    icons: dict[str, bytes] = {}
    pictures: list[Path] = []
    for page in sorted(page for staging in stagings for page in staging.glob(f"*/{INDEX_FILE}")):
        root = parse(page.read_text(encoding="utf-8", errors="replace"))
        if root is not None:
            names = _Images(page.parent, icons, pictures)
            shell, own = _take_apart(root, names)
            shells.append(shell)
            sections += own
    if not sections:
        raise ValueError(f"no article with text in {', '.join(map(str, stagings))}; name a staging folder with some")
    step = -(-len(pictures) // _MOST_PICTURES) or 1
    return Material(tuple(shells), tuple(sections), icons, tuple(_smalls(pictures[::step])))


@dataclass(frozen=True)
class _Images:
    """The images of one article folder: icons are kept, screenshots are replaced by a placeholder."""

    folder: Path
    icons: dict[str, bytes]
    pictures: list[Path]

    def settle(self, image: Element) -> None:
        path = self.folder / unquote(image.get("src") or "").partition("?")[0]
        if not (path.is_file() and path.resolve().is_relative_to(self.folder.resolve())):
            return
        if _is_icon(path):
            data = path.read_bytes()
            name = f"{path.stem}-{hashlib.sha256(data).hexdigest()[:8]}{path.suffix}"
            self.icons[name] = data
            image.set("src", name)
        else:
            self.pictures.append(path)
            replace_with_text(image, PICTURE)

    def used(self, html: str) -> frozenset[str]:
        return frozenset(name for name in re.findall(r'src="([^"]+)"', html) if name in self.icons)


def _is_icon(path: Path) -> bool:
    try:
        with Image.open(path) as image:
            return min(image.size) < _ICON_PIXELS
    except (UnidentifiedImageError, OSError):
        return True  # an SVG, or broken: kept as it is


def _smalls(paths: Iterable[Path]) -> Iterator[Image.Image]:
    """Upper left corners in grey: text stays legible, and encoding takes a millisecond."""
    for path in paths:
        try:
            image = flatten(path.read_bytes())
        except ImageError:
            continue  # a broken picture is of no use here
        width, height = (min(pair) for pair in zip(image.size, _PICTURE_SIZE, strict=True))
        yield image.crop((0, 0, width, height)).convert("L")


def _take_apart(root: Element, images: _Images) -> tuple[Shell, list[Section]]:
    body = visible_body(root)
    main = find_main_content(body)
    for image in list(body.iter("img")):
        images.settle(image)
    groups = list(_groups(main))
    sections = [_section(group, images) for group in groups]
    _leave_a_place(groups, main)
    before, _, after = _html(root).partition(_CONTENT)
    size = sum(len(section.html) for section in sections)
    shell = Shell(before, after, size, images.used(before + after))
    return shell, [section for section in sections if section.title]


def _section(group: list[Element], images: _Images) -> Section:
    html = "".join(map(_html, group))
    heading = next(heading for element in group for heading in element.iter(*HEADINGS))
    # the title of a generated article is its only h1
    html = _TEXT_END.sub(f" {WORD}", html).replace("<h1", "<h2").replace("</h1>", "</h2>")
    if WORD not in html:
        html += f"<p>So it is in {WORD}.</p>"
    return Section(text_of(heading), html, images.used(html))


def _groups(main: Element) -> Iterator[list[Element]]:
    """Each heading with the elements of its section."""
    for heading in list(main.iter(*HEADINGS)):
        top = heading
        while (parent := top.getparent()) is not None and parent is not main and _headings(parent) == 1:
            top = parent
        group = [top]
        if text_of(top) == text_of(heading):
            for element in top.itersiblings():
                if _headings(element):
                    break
                group.append(element)
        yield group


def _headings(element: Element) -> int:
    return sum(1 for _ in element.iter(*HEADINGS))


def _leave_a_place(groups: list[list[Element]], main: Element) -> None:
    place = etree.Element("div")
    place.text = _CONTENT
    if groups:
        groups[0][0].addprevious(place)
    else:
        main.append(place)
    for element in (element for group in groups for element in group):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)


def _html(element: Element) -> str:
    return str(etree.tostring(element, method="html", encoding="unicode", with_tail=False))
