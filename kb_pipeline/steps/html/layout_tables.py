"""Tables that only arrange things on the page are taken apart; what is left are tables of data."""

import re

from kb_pipeline.steps.html.dom import HEADINGS, Element, classes, dissolve, replace_with_text
from kb_pipeline.steps.html.table_grid import own_rows, size

# What the DocBook stylesheets write into the summary of tables they make up themselves.
_MADE_UP = re.compile(r"manufactured viewport|block quote|navigation|^(?:note|tip|warning|caution|important)$", re.I)
_LAYOUT_ROLES = frozenset({"presentation", "none"})


def unwrap_layout_tables(main: Element) -> None:
    """Replace every layout table by the blocks in its cells, in reading order, in place."""
    for table in list(main.iter("table")):
        if table.tag == "table" and is_layout(table):
            _unwrap(table)


def is_layout(table: Element) -> bool:
    """Whether the table holds no data: it says so, holds sections, or has one row or column."""
    if table.get("role") in _LAYOUT_ROLES or _MADE_UP.search(table.get("summary") or ""):
        return True
    if next(table.iterdescendants(*HEADINGS), None) is not None:
        return True
    rows, columns = size(table)
    return rows < 2 or columns < 2


def _unwrap(table: Element) -> None:
    for row in own_rows(table):
        for cell in list(row):
            if not {"linenos", "gutter", "lineno"}.isdisjoint(classes(cell)):
                replace_with_text(cell, "")
            cell.tag = "div"
        row.tag = "div"
    for part in table.iterchildren():
        dissolve(part)
    dissolve(table)
