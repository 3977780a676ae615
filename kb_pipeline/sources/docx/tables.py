"""What mammoth does not see of the tables of a Word document: rows that begin late, heads by their style or looks."""

from collections.abc import Callable

from kb_pipeline.sources.docx.styles import Element, WordStyles, child, is_on, made_like, value

_MOST_COLUMNS = 63
"""Word allows no more."""
_PAPER = {"", "auto", "ffffff"}
"""Fills of cells that look like the page."""


def tidy_tables(tree: Element, styles: WordStyles) -> None:
    """Fill rows that begin late with an empty cell, and mark first rows that a style sets off, in place."""
    for row in tree.iter("{*}tr"):
        said = value(child(row, "trPr", "gridBefore"))
        if said.isdecimal() and 0 < int(said) <= _MOST_COLUMNS:
            first = next((cell for cell in row if cell is not child(row, "trPr")), None)
            if first is not None:
                first.addprevious(_empty_cell(row, said))
    for table in tree.iter("{*}tbl"):
        rows = list(table.iterfind("{*}tr"))
        is_said = any(child(row, "trPr", "tblHeader") is not None for row in rows)
        if len(rows) > 1 and not is_said and (_has_head_by_style(table, styles) or _has_head_by_looks(rows, styles)):
            _mark_head(rows[0])


def _has_head_by_style(table: Element, styles: WordStyles) -> bool:
    """Whether the style of a table draws its first row in another way, and the table asks for that."""
    look = child(table, "tblPr", "tblLook")
    asked = value(look, "firstRow") in ("1", "true", "on") or (
        not value(look, "firstRow") and _bits(value(look)) & 0x20 != 0
    )
    style = value(child(table, "tblPr", "tblStyle"))
    kinds = (part for one in styles.chain(style) for part in one.iterfind("{*}tblStylePr"))
    return asked and any(value(part, "type") == "firstRow" and len(part) for part in kinds)


def _has_head_by_looks(rows: list[Element], styles: WordStyles) -> bool:
    """Whether every cell of the first row is shaded, or bold by whatever style, and no other row is so in all cells."""

    def is_bold(cell: Element) -> bool:
        return _is_bold(cell, styles)

    return any(
        _is_all(rows[0], sign) and not any(_is_all(row, sign) for row in rows[1:]) for sign in (_is_shaded, is_bold)
    )


def _is_all(row: Element, sign: Callable[[Element], bool]) -> bool:
    cells = list(row.iterfind("{*}tc"))
    return bool(cells) and all(map(sign, cells))


def _is_shaded(cell: Element) -> bool:
    shading = child(cell, "tcPr", "shd")
    return bool(value(shading, "themeFill")) or value(shading, "fill").lower() not in _PAPER


def _is_bold(cell: Element, styles: WordStyles) -> bool:
    """Whether all text of a cell is bold; one without text is not."""
    runs = [
        (run, paragraph)
        for paragraph in cell.iter("{*}p")
        for run in paragraph.iter("{*}r")
        if any((text.text or "").strip() for text in run.iterfind("{*}t"))
    ]
    return bool(runs) and all(is_on(_weight(run, paragraph, styles)) for run, paragraph in runs)


def _weight(run: Element, paragraph: Element, styles: WordStyles) -> Element | None:
    """What says whether a run is bold: the run itself, its style, or the style of its paragraph."""
    own = child(run, "rPr", "b")
    by_style = styles.first(value(child(run, "rPr", "rStyle")), "rPr", "b") if own is None else own
    return styles.first(styles.of_paragraph(paragraph), "rPr", "b") if by_style is None else by_style


def _bits(written: str) -> int:
    try:
        return int(written, 16)
    except ValueError:
        return 0


def _empty_cell(row: Element, columns: str) -> Element:
    cell, properties, span = made_like(row, "tc"), made_like(row, "tcPr"), made_like(row, "gridSpan")
    span.set(span.tag.rpartition("}")[0] + "}val", columns)
    properties.append(span)
    cell.extend([properties, made_like(row, "p")])
    return cell


def _mark_head(row: Element) -> None:
    properties = child(row, "trPr")
    if properties is None:
        properties = made_like(row, "trPr")
        row.insert(0, properties)
    properties.append(made_like(row, "tblHeader"))
