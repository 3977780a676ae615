"""Data tables in the one form markdown knows: a header row, and the same number of one-line cells in each."""

from lxml import etree

from kb_pipeline.steps.html.dom import Element, has_text, text_of
from kb_pipeline.steps.html.placeholders import PLACEHOLDER
from kb_pipeline.steps.html.table_cells import flatten_cell
from kb_pipeline.steps.html.table_grid import Slot, cells_of, lay_out, own_rows


def flatten_tables(main: Element) -> int:
    """Rebuild every data table, innermost first, in place; return how many there are."""
    count = 0
    for table in reversed(list(main.iter("table"))):
        if next(table.iterancestors("table"), None) is None:
            _flatten(table)
            count += 1
    return count


def _flatten(table: Element) -> None:
    for row in own_rows(table):
        for cell in cells_of(row):
            flatten_cell(cell)
    grid = [row for row in lay_out(table) if any(row)]
    has_header = _has_header(table)
    header: list[Slot | None] = grid[0] if has_header else [None] * len(grid[0])
    words: dict[Element, str] = {}
    tail = table.tail
    caption = next(table.iterchildren("caption"), None)
    rebuilt = etree.Element("table")
    _add_row(etree.SubElement(rebuilt, "thead"), "th", header, words)
    body = etree.SubElement(rebuilt, "tbody")
    for slots in grid[1:] if has_header else grid:
        _add_row(body, "td", slots, words)
    for row in own_rows(table):
        # Freed one by one: lxml looks through all that is detached at once for each element that is let go.
        _detach(row)
    table.clear()
    table.tail = tail
    table.extend(list(rebuilt))
    if caption is not None and has_text(caption):
        caption.tag, caption.tail = "p", None
        table.addprevious(caption)


def _detach(row: Element) -> None:
    parent = row.getparent()
    if parent is not None:
        parent.remove(row)


def _has_header(table: Element) -> bool:
    first = own_rows(table)[0]
    parent = first.getparent()
    if parent is not None and parent.tag == "thead":
        return True
    cells = [cell for cell in cells_of(first) if has_text(cell)]
    return bool(cells) and all(cell.tag == "th" or _is_bold(cell) for cell in cells)


def _is_bold(cell: Element) -> bool:
    bold = next(cell.iterdescendants("strong", "b"), None)
    return bold is not None and text_of(bold) == text_of(cell)


def _add_row(part: Element, tag: str, slots: list[Slot | None], words: dict[Element, str]) -> None:
    """Move the cells of one row; one that spans rows is repeated as plain words, so that a row makes sense alone."""
    row = etree.SubElement(part, "tr")
    for slot in slots:
        cell = etree.SubElement(row, tag)
        if slot is None:
            continue
        if slot.first:
            words[slot.cell] = "" if PLACEHOLDER.search(text_of(slot.cell)) else text_of(slot.cell)
            cell.text = slot.cell.text
            cell.extend(list(slot.cell))
        elif slot.same_column:
            cell.text = words[slot.cell]
