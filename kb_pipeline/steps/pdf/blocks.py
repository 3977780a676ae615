"""What a page is taken apart into: headings, paragraphs, code, list items, terms, tables, figures."""

from dataclasses import dataclass, field
from enum import Enum

from kb_pipeline.steps.pdf.lines import Line
from kb_pipeline.steps.pdf.model import Box


class Kind(Enum):
    """What a block is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CODE = "code"
    ITEM = "item"
    TERM = "term"
    TABLE = "table"
    FIGURE = "figure"
    NOTE = "note"


@dataclass(slots=True)
class Cell:
    """A cell of a table."""

    lines: list[Line] = field(default_factory=list)
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Figure:
    """A picture that the source has cut out: ``source`` is its key among the images.

    ``is_drawing`` says that no image is in it, so that short words inside of it are its labels.
    """

    page: int
    box: Box
    source: str
    alt: str = ""
    is_drawing: bool = False


@dataclass(slots=True)
class Block:
    """One block. ``left`` is where its lines begin, and ``text_left`` where the text of an item does, behind its mark.

    ``level`` is a heading's; ``marker`` is an item's, which is ``ordered`` if that counts; ``table`` and
    ``header_rows`` are a table's; ``caption`` is that of a table, a figure, or code.
    """

    kind: Kind
    lines: list[Line]
    page: int
    left: float = 0.0
    text_left: float = 0.0
    level: int = 0
    marker: str = ""
    ordered: bool = False
    table: list[list[Cell]] = field(default_factory=list)
    header_rows: int = 0
    columns: list[float] = field(default_factory=list)
    figure: Figure | None = None
    caption: list[Line] = field(default_factory=list)
    goes_on: bool = False
    """Whether the text breaks off, so that the next page goes on with it."""

    @property
    def last(self) -> Line:
        return self.lines[-1]
