"""A page as the steps take it apart: what is known of it, and the rows that no step has taken yet."""

from dataclasses import dataclass, field

from kb_pipeline.steps.pdf.lines import Line, Row, rows_of, text_of
from kb_pipeline.steps.pdf.model import Box, Drawing, Link, Page


@dataclass(slots=True)
class Sheet:
    """One page. ``left_out`` is the text that no reader of the article needs, as running heads and contents."""

    number: int
    width: float
    height: float
    rows: list[Row]
    turned: list[Line]
    links: tuple[Link, ...]
    drawings: tuple[Drawing, ...]
    images: tuple[Box, ...]
    label: str = ""
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, rows: list[Row]) -> None:
        """Take the rows from the page; they are in the order of the page."""
        gone = {id(row) for row in rows}
        self.left_out.extend(text_of(piece.words) for row in self.rows if id(row) in gone for piece in row)
        self.rows = [row for row in self.rows if id(row) not in gone]


def sheet_of(page: Page) -> Sheet:
    """Take the words of a page together to rows."""
    rows, turned = rows_of(page)
    drawings = page.drawings if not page.dropped_drawings else ()
    return Sheet(page.number, page.width, page.height, rows, turned, page.links, drawings, page.images, page.label)
