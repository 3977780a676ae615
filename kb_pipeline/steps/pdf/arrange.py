"""The blocks of a document in the order of reading, with what goes on over columns and pages joined."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from kb_pipeline.steps.pdf.blocks import Block, Figure, Kind
from kb_pipeline.steps.pdf.borderless import borderless
from kb_pipeline.steps.pdf.columns import regions
from kb_pipeline.steps.pdf.figures import LONGEST_LABEL
from kb_pipeline.steps.pdf.footnotes import take_footnotes
from kb_pipeline.steps.pdf.grids import grids_of, table_of_grid
from kb_pipeline.steps.pdf.lines import Line, Row, join
from kb_pipeline.steps.pdf.outline import CAPTION, Heading
from kb_pipeline.steps.pdf.paragraphs import blocks_of, breaks_off, follows
from kb_pipeline.steps.pdf.ruled_tables import ruled_stretches, table_of_rules
from kb_pipeline.steps.pdf.sheets import PageSheet
from kb_pipeline.steps.pdf.study import Study
from kb_pipeline.steps.pdf.tables import Beside, FoundTable

_LOWER = re.compile(r"[(\[\"'“‘«]*[^\W\d_A-Z]")
_INITIAL = re.compile(r"[A-Z]\.")
_LONGEST_TERM = 100
"""Characters of a line that may be the term of a definition below it."""
_LARGER = 1.12
"""Size of a line in sizes of the text from which it is a heading, also without a title in the outline: above rounding
of sizes."""


def arrange(study: Study, numbers: Sequence[int], figures: Mapping[int, Sequence[Figure]]) -> list[Block]:
    """The blocks of these pages, which follow each other."""
    blocks: list[Block] = []
    for number in numbers:
        sheet = study.sheets.get(number)
        if sheet is None:
            continue
        first = True
        on_sheet = [replace(figure, box=sheet.seen(figure.box)) for figure in figures.get(number, ())]
        for figure in on_sheet:
            _leave_out_labels(study, sheet, figure)
        tables = _take_grids(study, sheet)
        notes = take_footnotes(sheet, study.measures.body_size)
        for group in _of_page(study, sheet, tables, on_sheet):
            _append(blocks, group, study, first)
            first = False
        blocks.extend(notes)
    _set_initials(blocks)
    _set_terms(blocks, study)
    return _with_captions(blocks)


def _leave_out_labels(study: Study, sheet: PageSheet, figure: Figure) -> None:
    """Take the words inside of a drawing from the page, unless it is a frame around text: they are on its picture."""
    if not figure.is_drawing:
        return
    left, top, right, bottom = figure.box
    inside = [
        piece
        for row in sheet.rows
        for piece in row
        if left - 1 <= piece.left and piece.right <= right + 1 and top < piece.box.middle[1] < bottom
    ]
    if any(len(piece.words) > LONGEST_LABEL or id(piece) in study.headings for piece in inside):
        return
    sheet.leave_to_picture(inside)


def _take_grids(study: Study, sheet: PageSheet) -> list[FoundTable]:
    """Take the tables that lines make from the page."""
    tables = []
    for grid in grids_of(sheet.drawings):
        table = table_of_grid(grid, sheet.rows)
        pieces = [piece for row in table.rows for piece in row] if table else []
        if table and not any(_is_surely_heading(study, piece) for piece in pieces):
            _no_headings(study, pieces)
            tables.append(table)
            taken = {id(row) for row in table.rows}
            sheet.rows = [row for row in sheet.rows if id(row) not in taken]
    return sorted(tables, key=lambda table: table.rows[0][0].baseline)


def _no_headings(study: Study, pieces: Iterable[Line]) -> None:
    """Let bold lines of a table be no headings, as its head often is."""
    for piece in pieces:
        study.headings.pop(id(piece), None)


def _is_surely_heading(study: Study, piece: Line) -> bool:
    """Whether a piece is a heading that the outline has, or that is larger than the text."""
    heading = study.headings.get(id(piece))
    return heading is not None and (bool(heading.title) or piece.size > _LARGER * study.measures.body_size)


def _of_page(
    study: Study, sheet: PageSheet, tables: Sequence[FoundTable], figures: Sequence[Figure]
) -> Iterator[list[Block]]:
    """The blocks of each region of the page, in the order of reading."""
    rows = sheet.rows
    groups: list[list[Block]] = []
    for table in [*tables, None]:
        top = table.rows[0][0].baseline if table else float("inf")
        above = [row for row in rows if row[0].baseline < top]
        rows = rows[len(above) :]
        columns = list(regions(above))
        groups += [list(_of_region(study, sheet, column, alone=len(columns) == 1)) for column in columns]
        if table:
            base = study.lefts.get(sheet.number, 0.0)
            groups.append([_table_block(table, sheet.number, base)])
    groups += [[Block(Kind.PARAGRAPH, [line], sheet.number)] for line in sheet.turned]
    yield from _with_figures(groups, figures)


def _of_region(study: Study, sheet: PageSheet, rows: list[Row], alone: bool) -> Iterator[Block]:
    page_left, page_right = study.lefts.get(sheet.number, 0.0), study.rights.get(sheet.number, sheet.width)
    right = max(row[-1].right for row in rows)
    left = min(row[0].left for row in rows)
    if alone:
        right, left = max(right, page_right), page_left
    stretches = _table_stretches(study, sheet, rows)
    begin = 0
    while begin < len(rows):
        if begin in stretches:
            end, table = stretches[begin]
            begin = end
            if isinstance(table, FoundTable):
                yield _table_block(table, sheet.number, left)
                continue
            for side in table.sides:
                yield from _text_blocks(side, study, max(row[-1].right for row in side), left)
            continue
        heading = study.headings.get(id(rows[begin][0]))
        if heading is not None:
            end = begin + 1
            while end < len(rows) and study.headings.get(id(rows[end][0])) is heading:
                end += 1
            yield _heading_block(heading, rows[begin:end])
            begin = end
            continue
        end = begin
        while end < len(rows) and end not in stretches and id(rows[end][0]) not in study.headings:
            end += 1
        yield from _text_blocks(rows[begin:end], study, right, left)
        begin = end


def _text_blocks(rows: Sequence[Row], study: Study, right: float, left: float) -> Iterator[Block]:
    for block in blocks_of(rows, study.measures, right):
        block.goes_on = breaks_off(block, right)
        block.left -= left
        block.text_left -= left
        yield block


def _table_stretches(study: Study, sheet: PageSheet, rows: list[Row]) -> dict[int, tuple[int, FoundTable | Beside]]:
    """The tables without upright lines, and texts side by side, by their first row, with the row behind their last."""

    def pieces(first: int, last: int) -> Iterator[Line]:
        return (piece for row in rows[first:last] for piece in row)

    tables: dict[int, tuple[int, FoundTable | Beside]] = {}
    taken = [False] * len(rows)
    for first, last, rules in ruled_stretches(sheet.drawings, rows):
        has_heading = any(_is_surely_heading(study, piece) for piece in pieces(first, last))
        of_rules = None if has_heading or any(taken[first:last]) else table_of_rules(rows[first:last], rules)
        if of_rules:
            _no_headings(study, pieces(first, last))
            tables[first] = (last, of_rules)
            taken[first:last] = [True] * (last - first)
    leading = study.measures.leading * study.measures.body_size
    for first, last, table in borderless(rows, leading):
        has_heading = any(id(piece) in study.headings for piece in pieces(first, last))
        if not has_heading and not any(taken[first:last]):
            tables[first] = (last, table)
    return tables


def _table_block(table: FoundTable, page: int, left: float) -> Block:
    lines = [piece for row in table.rows for piece in row]
    start = min(line.left for line in lines) - left
    return Block(
        Kind.TABLE,
        lines,
        page,
        left=start,
        text_left=start,
        table=table.cells,
        header_rows=table.header_rows,
        columns=[column - table.columns[0] for column in table.columns],
    )


def _heading_block(heading: Heading, rows: Sequence[Row]) -> Block:
    return Block(Kind.HEADING, [join(row) for row in rows], heading.page, level=heading.level)


def _append(blocks: list[Block], group: list[Block], study: Study, new_page: bool) -> None:
    """Put the blocks of a region behind those before it, joined with what goes on."""
    if not group:
        return
    before = next((block for block in reversed(blocks) if block.kind not in (Kind.NOTE, Kind.FIGURE)), None)
    first = group[0]
    if before is not None and _continues(before, first, study):
        if first.kind is Kind.TABLE:
            count = before.header_rows or 1
            if _repeats_header(before, first, count):
                study.sheets[first.page].left_out.extend(
                    line.text for row in first.table[:count] for cell in row for line in cell.lines
                )
                del first.table[:count]
            before.table.extend(first.table)
        before.lines.extend(first.lines)
        before.goes_on = first.goes_on
        group = group[1:]
    blocks.extend(group)


def _repeats_header(before: Block, first: Block, count: int) -> bool:
    """Whether a table begins as the one on the page before does; a row that is there again and again is no header."""
    head = _texts(before.table[:count])
    return (
        len(first.table) > count
        and _texts(first.table[:count]) == head
        and not any(_texts([row]) == head[:1] for row in (*before.table[count:], *first.table[count:]))
    )


def _texts(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[" ".join(line.text for line in cell.lines) for cell in row] for row in rows]  # type: ignore[attr-defined]


def _continues(before: Block, first: Block, study: Study) -> bool:
    last = before.last
    if before.kind is Kind.TABLE and first.kind is Kind.TABLE:
        return len(before.columns) == len(first.columns) and all(
            abs(one - other) < 8 for one, other in zip(before.columns, first.columns, strict=True)
        )
    if before.kind is Kind.CODE and first.kind is Kind.CODE:
        return abs(last.size - first.lines[0].size) < 0.6 and abs(before.left - first.left) < 60
    if before.kind not in (Kind.PARAGRAPH, Kind.ITEM) or first.kind is not Kind.PARAGRAPH or not before.goes_on:
        return False
    line = first.lines[0]
    if abs(last.size - line.size) > 0.1 * line.size or last.bold != line.bold:
        return False
    start = before.text_left if before.kind is Kind.ITEM else before.left
    return abs(first.left - start) < 2.5 * line.size or _LOWER.match(line.text) is not None


def _set_initials(blocks: Sequence[Block]) -> None:
    """Call an item that a letter marks a paragraph if no letter before or after it marks another: ``A. Lovelace``.

    Letters that may be initials although they follow each other stay in the text of their items.
    """
    items = [block for block in blocks if block.kind is Kind.ITEM]
    lone = []
    for number, block in enumerate(items):
        if not block.ordered or block.marker.strip("().").isdigit():
            continue
        before = _beside(block, reversed(items[:number]))
        after = _beside(block, islice(items, number + 1, None))
        if before and not follows(block.marker, before.marker):
            before = None
        if after and not follows(after.marker, block.marker):
            after = None
        if not before and not after:
            lone.append(block)
        elif all(_INITIAL.fullmatch(each.marker) for each in (before, block, after) if each):
            block.ordered = False
    for block in lone:
        block.kind, block.text_left = Kind.PARAGRAPH, block.left


def _beside(block: Block, others: Iterable[Block]) -> Block | None:
    """The next item of the same list."""
    of_list = takewhile(lambda other: other.left > block.left - 3, others)
    return next((other for other in of_list if other.left < block.left + 3), None)


def _set_terms(blocks: list[Block], study: Study) -> None:
    """Call a short line a term if what is right below it is indented: lists of descriptions are set like this."""
    leading = study.measures.leading
    for number in range(len(blocks) - 2, -1, -1):
        block, below = blocks[number], blocks[number + 1]
        if block.kind not in (Kind.PARAGRAPH, Kind.CODE) or below.kind not in (Kind.PARAGRAPH, Kind.TERM, Kind.ITEM):
            continue
        last, line = block.last, below.lines[0]
        near = last.page != line.page or line.baseline - last.baseline < 1.45 * leading * line.size
        deeper = below.left - block.left
        short = len(block.lines) <= (3 if block.kind is Kind.CODE else 1) and len(last.text) < _LONGEST_TERM
        looks = (
            block.kind is Kind.CODE
            or last.words[0].style.bold
            or last.words[0].style.italic
            or (study.is_fixed(last.words[0]))
        )
        if below.kind is Kind.TERM:
            if near and short and looks and abs(deeper) < 2:
                block.kind = Kind.TERM
            continue
        if near and short and 1.1 * line.size < deeper < 9 * line.size and looks and below.kind is Kind.PARAGRAPH:
            block.kind = Kind.TERM


def _with_figures(groups: list[list[Block]], figures: Sequence[Figure]) -> Iterator[list[Block]]:
    """Put each figure behind the last block that is above it in its column."""
    for figure in sorted(figures, key=lambda figure: figure.box.top):
        best: tuple[int, int] | None = None
        for group_number, group in enumerate(groups):
            for number, block in enumerate(group):
                lines = [line for line in block.lines if line.page == figure.page]
                if not lines or max(line.baseline for line in lines) > figure.box.top + 4:
                    continue
                beside = min(line.left for line in lines) < figure.box.right and (
                    max(line.right for line in lines) > figure.box.left
                )
                if beside or len(groups) == 1:
                    best = (group_number, number)
        block = Block(Kind.FIGURE, [], figure.page, figure=figure)
        if best is None:
            groups.insert(0, [block])
        else:
            place = best[1] + 1
            group = groups[best[0]]
            while place < len(group) and group[place].kind is Kind.FIGURE:
                place += 1
            group.insert(place, block)
            block.left = group[best[1]].left
    yield from groups


def _with_captions(blocks: list[Block]) -> list[Block]:
    """Give a caption to the figure or table that it stands right below or above."""
    kept: list[Block] = []
    for number, block in enumerate(blocks):
        if block.kind is Kind.PARAGRAPH and len(block.lines) <= 4 and CAPTION.match(block.lines[0].text):
            above = kept[-1] if kept else None
            below = blocks[number + 1] if number + 1 < len(blocks) else None
            order = [above, below] if not block.lines[0].text.lower().startswith("tab") else [below, above]
            for other in order:
                if other and other.kind in (Kind.FIGURE, Kind.TABLE) and not other.caption and other.page == block.page:
                    other.caption = block.lines
                    break
            else:
                kept.append(block)
            continue
        kept.append(block)
    return kept
