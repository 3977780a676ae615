"""The rows of the tables of a markdown text: what each cell says of what. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb_pipeline.steps.chunk.blocks import parse_blocks
from kb_pipeline.steps.chunk.plain import plain_text, plain_title
from kb_pipeline.steps.markdown_parsers import row_cells

_RULER = re.compile(r"[\s:|-]+")


@dataclass(frozen=True, slots=True)
class RowCell:
    """A cell of a row: ``subject`` is the row's first cell, ``column`` what stands above, ``text`` the whole row.

    Of the first cell, the others are the subject: ``is_first``.
    """

    section: str
    subject: str
    column: str
    cell: str
    text: str
    is_first: bool


def rows_of(markdown: str) -> Iterator[RowCell]:
    """Yield the cells of all tables, without those that name rows and columns."""
    section = ""
    for block in parse_blocks(markdown):
        if block.kind == "heading":
            section = block.title
        elif block.kind == "table":
            columns, *rows = (
                [plain_title(plain_text(cell)) for cell in row_cells(line)]
                for line in block.text.splitlines()
                if not _RULER.fullmatch(line)
            )
            for row in rows:
                for at, cell in enumerate(row[: len(columns)]):
                    subject = row[0] if at else " ".join(row[1:])
                    if cell and subject:
                        yield RowCell(
                            section, subject, columns[at], cell, " | ".join(each for each in row if each), at == 0
                        )
