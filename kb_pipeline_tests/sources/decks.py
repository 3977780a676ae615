"""PowerPoint presentations for tests, made by python-pptx, with parts replaced where it makes only good ones."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from pptx import Presentation

TITLE, TITLE_AND_BODY, SECTION, TITLE_ONLY, BLANK = 0, 1, 2, 5, 6
"""Layouts of the usual template."""


def presentation(*build: Callable[[Any], None], parts: Mapping[str, bytes] | None = None) -> bytes:
    """A presentation with what the functions add to it; ``parts`` are added to the file, or replace its own."""
    deck = Presentation()
    for add in build:
        add(deck)
    saved = io.BytesIO()
    deck.save(saved)
    return with_parts(saved.getvalue(), parts or {})


def with_parts(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The file with these parts added or replaced; a path that is there is taken out first."""
    if not parts:
        return data
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in source.infolist():
            if entry.filename not in parts:
                copy.writestr(entry.filename, source.read(entry))
        for name, content in parts.items():
            copy.writestr(name, content)
    return packed.getvalue()


def edited(data: bytes, part: str, pattern: str, replacement: str) -> bytes:
    """The file with a part of XML changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        xml = source.read(part).decode()
    changed, count = re.subn(pattern, replacement, xml, count=1, flags=re.DOTALL)
    assert count, f"{pattern} is not in {part}"
    return with_parts(data, {part: changed.encode()})


def slide(deck: Any, layout: int = TITLE_AND_BODY, title: str = "", *lines: tuple[int, str] | str) -> Any:
    """Add a slide with lines in its body, each with its level."""
    added = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        added.shapes.title.text = title
    if lines:
        frame = added.placeholders[1].text_frame
        for number, line in enumerate(lines):
            level, text = line if isinstance(line, tuple) else (0, line)
            paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
    return added


def many_slides(count: int) -> bytes:
    """A presentation of this many slides, made of copies of one, as python-pptx would need minutes to add them."""
    data = presentation(lambda deck: slide(deck, TITLE_AND_BODY, "Topic 1", "What is said about topic 1."))
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name).decode() for name in source.namelist() if name.endswith((".xml", ".rels"))}
    copies = {
        name.replace("slide1", f"slide{number}"): text.replace("opic 1", f"opic {number}")
        for name, text in parts.items()
        if "slide1" in name
        for number in range(2, count + 1)
    }
    listing = {
        name: _SLIDE_IN_A_LIST.sub(lambda found: _numbered(found[0], count), text) for name, text in parts.items()
    }
    return with_parts(data, {name: text.encode() for name, text in (listing | copies).items()})


_SLIDE_IN_A_LIST = re.compile(r'<(?:Override|Relationship) [^>]*slides/slide1\.xml"[^>]*>|<p:sldId [^>]*>')


def _numbered(entry: str, count: int) -> str:
    """The entry of the first slide in a list, and those of its copies."""
    (key,) = re.findall(r'"(rId\d+)"', entry) or [""]
    entries = [
        entry.replace("slide1.xml", f"slide{number}.xml").replace('"256"', f'"{255 + number}"')
        for number in range(1, count + 1)
    ]
    return "".join(one.replace(f'"{key}"', f'"rIdOfSlide{at}"') if key else one for at, one in enumerate(entries))
