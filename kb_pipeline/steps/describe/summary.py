"""Put a screen into words: what it is, what is selected and filled in, what it says; then all other text on it."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from kb_pipeline.records import ImageDescription
from kb_pipeline.steps.describe.elements import element_names
from kb_pipeline.steps.describe.layout import Row, rows_of
from kb_pipeline.steps.describe.lines import OcrLine, cleaned, has_text
from kb_pipeline.steps.describe.screen import LISTS, Screen
from kb_pipeline.steps.describe.values import is_sentence

LAYOUT_VERSION = "ocr-layout-2"
"""Change it whenever :func:`describe_lines` or :func:`surrounded` gives anything else."""

OTHER_TEXT = "Text on screen: "
MAX_CHARACTERS = 1200
"""As many as of a model's description (``image_fields``)."""
_ICON_SIDE = 64
"""Pixels: what icons are at most on screens of twice the density."""
_MAX_HEADINGS = 12
"""Headings of a table that are listed."""
_MAX_MESSAGE = 240
"""Characters of a message: an error in two sentences."""
_CAPTIONS = 3
"""Texts of a picture that its description begins with."""
_FIRST_ELEMENTS = 4
"""Elements that stand for a screen without a title."""


def describe_lines(lines: Iterable[OcrLine], width: int, height: int) -> ImageDescription:
    """Describe an image of ``width`` x ``height`` pixels by the text on it.

    The description begins with what a person would say, and ends with the texts that are in no other part.
    """
    readable = cleaned(lines)
    if not has_text(readable, width, height):
        kind = "Icon" if max(width, height) <= _ICON_SIDE else "Picture"
        return ImageDescription(description=f"{kind} without readable text ({width} x {height} pixels).")
    screen = Screen(tuple(readable), width, height)
    elements = _elements(screen)
    sentences = [_opening(screen, elements), *_details(screen)]
    said = " ".join(sentences)
    texts = [*_remaining(screen, said, elements), *_table_rows(screen)]
    if texts:
        sentences.append(f"{OTHER_TEXT}{'; '.join(texts).rstrip(' ;.')}.")
    return ImageDescription(description=_cut(" ".join(sentences)), ui_elements=elements, navigation_path=screen.path)


def _elements(screen: Screen) -> tuple[str, ...]:
    """Return the names of the interface; of texts and code only the buttons beside them."""
    running = screen.texts if screen.kind in {"page of text", "code"} else ()
    bars = [item for bar in screen.bars for item in bar]
    return element_names(
        [item for row in screen.rows for item in row if item not in screen.breadcrumb[1]],
        least=bars,
        data={*running, *screen.table_texts, *screen.people, *screen.fields.values()},
    )


def _opening(screen: Screen, elements: Sequence[str]) -> str:
    """Return the first sentence: the kind of the screen with its title or first elements, or the text of a picture."""
    if screen.kind == "picture":
        texts = list(dict.fromkeys(item.text for row in screen.rows for item in row))[:_CAPTIONS]
        return f"Picture with the text {_listed([_quoted(text) for text in texts])}."
    kind = screen.kind.capitalize()
    if screen.title:
        return f"{kind} {_quoted(screen.title)}."
    return f"{kind} with {_listed(elements[:_FIRST_ELEMENTS])}." if elements and not screen.tables else f"{kind}."


def _details(screen: Screen) -> Iterator[str]:
    """Yield what is selected, listed, filled in and said."""
    candidates = screen.menus or (screen.selected, screen.tab)
    selected = [item.text for item in candidates if item and item.text != screen.title]
    if selected:
        yield f"{_listed([_quoted(text) for text in selected])} {'is' if len(selected) == 1 else 'are'} selected."
    headings = (_listed([item.text for item in table.headings[:_MAX_HEADINGS]]) for table in screen.tables)
    yield from dict.fromkeys(f"A table lists {names}." for names in headings)
    if screen.fields:
        filled = (f"{label.text.rstrip(' :')}: {value.text.rstrip('.')}" for label, value in screen.fields.items())
        yield f"{'; '.join(filled)}."
    if screen.kind not in {"page of text", "code", "picture"}:
        others = screen.table_texts.union(screen.breadcrumb[1])
        rows = [row for row in screen.rows if others.isdisjoint(row)]
        messages = [text for text in _paragraphs(rows) if _is_message(text)]
        if messages:
            yield f"It says {_quoted(_cut(' '.join(messages), _MAX_MESSAGE))}"


def _remaining(screen: Screen, said: str, elements: Iterable[str]) -> Iterator[str]:
    """Yield the texts that are no contents of tables and in no other part of the description, each once."""
    told = {name.casefold() for name in (*elements, *screen.path)}
    lists = [*screen.bars, screen.texts if screen.kind in LISTS else ()]
    icons = {item for entries in lists for item in entries if len(item.text) == 1}
    skipped = {*screen.breadcrumb[1], *screen.table_texts, *icons}
    rows: list[Row] = []
    for row in screen.rows:
        new = tuple(item for item in row if item not in skipped and not _is_told(item.text, said, told))
        if new:
            rows.append(new)
            told.update(_key(item.text) for item in new)
    yield from _paragraphs(rows)


def _paragraphs(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the text of each row; the lines of a wrapped sentence are one text."""
    text = ""
    for index, row in enumerate(rows):
        text += _row_text(row)
        if _continues(row, rows[index + 1] if index + 1 < len(rows) else ()):
            text += " "
        else:
            yield text
            text = ""


def _table_rows(screen: Screen) -> Iterator[str]:
    """Yield the rows of all tables, complete, because a value means little without its row."""
    yield from (_row_text(row) for table in screen.tables for row in rows_of(table.body))


def _is_told(text: str, said: str, told: Collection[str]) -> bool:
    return _key(text) in told or re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


def _key(text: str) -> str:
    return text.strip(" :.…<>").casefold()


def _row_text(row: Row) -> str:
    """Join the items of a row; a label's colon is enough to separate it from its value."""
    text = row[0].text
    for item in row[1:]:
        text += (" " if text.endswith(":") else ", ") + item.text
    return text


def _continues(row: Row, following: Row) -> bool:
    """Return whether the next row continues the sentence of this one."""
    if len(row) != 1 or len(following) != 1:
        return False
    line, below = row[0], following[0]
    wrapped = len(line.text.split()) >= 4 and abs(line.left - below.left) <= 2 * line.height
    close = below.top - line.bottom <= line.height and abs(line.height - below.height) <= 0.35 * line.height
    return wrapped and close and below.text[0].islower()


def _quoted(text: str) -> str:
    return f"“{text}”"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _cut(text: str, limit: int = MAX_CHARACTERS) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rsplit(' ', 1)[0].rstrip(' ;,')}…"


def _is_message(text: str) -> bool:
    return is_sentence(text) and text.endswith((".", "!", "?")) and not text.endswith("..")
