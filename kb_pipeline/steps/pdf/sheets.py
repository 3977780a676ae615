"""A page as the steps take it apart: what is known of it, and the rows that no step has taken yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb_pipeline.steps.pdf.lines import Line, Row, line_of, rows_of, text_of
from kb_pipeline.steps.pdf.mirrored import is_right_to_left, mirrored, mirrored_box
from kb_pipeline.steps.pdf.model import Box, Drawing, Page, PdfLink, Word


@dataclass(slots=True)
class PageSheet:
    """One page. ``turned`` are its lines in other directions, and notes beside its text.

    ``left_out`` is the text that no reader of the article needs, as running heads and contents.
    ``on_pictures`` is the text that is left out because a picture of the article shows it.
    """

    number: int
    width: float
    height: float
    rows: list[Row]
    turned: list[Line]
    links: tuple[PdfLink, ...]
    drawings: tuple[Drawing, ...]
    images: tuple[Box, ...]
    label: str = ""
    left_out: list[str] = field(default_factory=list)
    on_pictures: list[str] = field(default_factory=list)
    is_mirrored: bool = False

    def seen(self, box: Box) -> Box:
        """A place on the page as the other places of this sheet are seen."""
        return mirrored_box(box, self.width) if self.is_mirrored else box

    def leave_out(self, rows: list[Row]) -> None:
        """Take the rows from the page; they are in the order of the page."""
        gone = {id(row) for row in rows}
        self.left_out.extend(text_of(piece.words) for row in self.rows if id(row) in gone for piece in row)
        self.rows = [row for row in self.rows if id(row) not in gone]

    def leave_to_picture(self, pieces: Sequence[Line]) -> None:
        """Take pieces of rows that a picture shows from the page; what is beside them stays."""
        gone = {id(piece) for piece in pieces}
        self.on_pictures.extend(text_of(piece.words) for piece in pieces)
        rows = [[piece for piece in row if id(piece) not in gone] for row in self.rows]
        self.rows = [row for row in rows if row]


def sheet_of(page: Page) -> PageSheet:
    """Take the words of a page together to rows; one from right to left is seen in a mirror."""
    is_mirrored = is_right_to_left(page.text)
    page = mirrored(page) if is_mirrored else page
    rows, turned = rows_of(page)
    turned += [line_of(page.number, note) for note in page.notes if note]
    drawings = page.drawings if not page.dropped_drawings else ()
    _add_bullets(page.number, rows, drawings)
    _begin_at_icons(rows, page.images)
    sheet = PageSheet(page.number, page.width, page.height, rows, turned, page.links, drawings, page.images, page.label)
    sheet.is_mirrored = is_mirrored
    return sheet


def _add_bullets(number: int, rows: Sequence[Row], drawings: Sequence[Drawing]) -> None:
    """Browsers draw the bullets of lists: a small disc or square before a line becomes the letter for it."""
    for drawing in drawings:
        box = drawing.box
        if not (1.5 < box.width < 9 and 0.75 < box.width / max(box.height, 0.1) < 1.33):
            continue
        for row in rows:
            first = row[0]
            size, middle = first.size, first.baseline - 0.3 * first.size
            gap = first.left - box.right
            if abs(box.middle[1] - middle) < 0.3 * size and 0 < gap < 2.2 * size and box.width < 0.7 * size:
                style = first.words[0].style
                bullet = Word("•", Box(box.left, first.box.top, box.right, first.box.bottom), first.baseline, style)
                row.insert(0, Line(number, [bullet], bullet.box, first.baseline, size, order=first.order))
                break


def _begin_at_icons(rows: Sequence[Row], images: Sequence[Box]) -> None:
    """Let a line begin where the icon before its first word does."""
    for image in images:
        for row in rows:
            for piece in row:
                beside = -1 < piece.left - image.right < 0.8 * piece.size and image.height < 2.2 * piece.size
                if beside and image.top < piece.baseline < image.bottom + 0.5 * piece.size:
                    piece.box = piece.box._replace(left=image.left)
