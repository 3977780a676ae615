"""What mammoth does not see of the tables of a Word document: rows that begin late, heads by their style."""

from kb_pipeline.sources.docx.styles import Element, WordStyles, child, made_like, value

_MOST_COLUMNS = 63
"""Word allows no more."""


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
        if len(rows) > 1 and not is_said and _has_head_by_style(table, styles):
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
