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
