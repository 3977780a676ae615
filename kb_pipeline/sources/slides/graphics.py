"""Tables, charts and diagrams (SmartArt) of slides as HTML."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from kb_pipeline.sources.slides.text import A, plain

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MOST_ROWS = 500
"""Rows of a chart's data that are written; a chart of more points is a picture, not a table."""

Element = Any
"""An element of lxml."""


def table_html(table: Element, text_of: Callable[[Element], str]) -> str:
    """Write a table (``a:tbl``) with merged cells; ``text_of`` writes a cell's text body."""
    properties = table.find(f"{A}tblPr")
    has_head = properties is not None and properties.get("firstRow") in ("1", "true")
    rows = []
    for number, row in enumerate(table.iterfind(f"{A}tr")):
        tag = "th" if has_head and number == 0 else "td"
        cells = []
        for cell in row.iterfind(f"{A}tc"):
            if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                continue
            spans = "".join(
                f' {name}="{int(cell.get(key))}"'
                for key, name in (("gridSpan", "colspan"), ("rowSpan", "rowspan"))
                if cell.get(key, "").isdecimal()
            )
            body = cell.find(f"{A}txBody")
            cells.append(f"<{tag}{spans}>{'' if body is None else text_of(body)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def chart_html(chart: Element) -> str:
    """Write the data of a chart (``c:chartSpace``) as a table: a row for each category, a column for each series."""
    title = chart.find(f".//{_C}title")
    words = "" if title is None else " ".join(map(plain, title.iter(f"{_C}rich")))
    series = list(chart.iter(f"{_C}ser"))
    names = [_values(one.find(f"{_C}tx")).get(0, "") for one in series]
    labels = _first_not_empty(series, "cat", "xVal")
    columns = [_first_not_empty([one], "val", "yVal") for one in series]
    rows = sorted({row for column in columns for row in column})[:_MOST_ROWS]
    if not rows:
        return f"<p>{escape(words)}</p>" if words else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in ["", *names])
    lines = ("".join(f"<td>{escape(column.get(row, ''))}</td>" for column in [labels, *columns]) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    caption = f"<caption>{escape(words)}</caption>" if words else ""
    return f"<table>{caption}<tr>{head}</tr>{body}</table>"


def _first_not_empty(series: Sequence[Element], *names: str) -> dict[int, str]:
    columns = (_values(one.find(f"{_C}{name}")) for one in series for name in names)
    return next((values for values in columns if values), {})


def _values(data: Element | None) -> dict[int, str]:
    """Return the stored values by their index; of labels on several levels, the innermost."""
    if data is None:
        return {}
    level = data.find(f".//{_C}lvl")
    points = (data if level is None else level).iter(f"{_C}pt")
    values = {int(point.get("idx", "0")): _number(point.findtext(f"{_C}v") or "") for point in points}
    return values or ({0: text} if (text := data.findtext(f"{_C}v")) else {})


def _number(text: str) -> str:
    """Return a number as people write it: ``0.30000000000000004`` is 0.3."""
    try:
        return f"{float(text):.10g}" if "." in text or "E" in text else text
    except ValueError:
        return text


def diagram_html(model: Element) -> str:
    """Write the texts of a diagram (``dgm:dataModel``) as a list, nested as in its text pane."""
    texts = {}
    for point in model.iter(f"{_DGM}pt"):
        body = point.find(f"{_DGM}t")
        if point.get("type", "node") in ("node", "asst", "doc"):
            texts[point.get("modelId", "")] = "" if body is None else plain(body)
    children: dict[str, list[tuple[int, str]]] = {}
    below = set()
    for connection in model.iter(f"{_DGM}cxn"):
        source, target = connection.get("srcId", ""), connection.get("destId", "")
        if connection.get("type", "parOf") == "parOf" and source in texts and target in texts and target not in below:
            below.add(target)
            children.setdefault(source, []).append((int(connection.get("srcOrd", "0")), target))
    roots = [point for point in texts if point not in below]
    return "".join(_list([(0, root) for root in roots], children, texts, frozenset()))


def _list(
    items: Sequence[tuple[int, str]],
    children: dict[str, list[tuple[int, str]]],
    texts: dict[str, str],
    above: frozenset[str],
) -> Iterator[str]:
    written = []
    for _, item in sorted(items):
        inner = (
            ""
            if item in above or len(above) > 20
            else "".join(_list(children.get(item, []), children, texts, above | {item}))
        )
        if texts[item]:
            written.append(f"<li>{escape(texts[item])}{inner}</li>")
        elif inner:  # the root of a diagram has no text
            written.append(inner if not above else f"<li>{inner}</li>")
    if written and written[0].startswith("<li>"):
        yield f"<ul>{''.join(written)}</ul>"
    else:
        yield "".join(written)
