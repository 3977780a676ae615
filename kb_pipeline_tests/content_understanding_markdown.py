"""Markdown as Content Understanding writes it for HTML: tables as HTML, no images, often no hyperlinks, page breaks.

After the documented sample of https://learn.microsoft.com/azure/ai-services/content-understanding/document/markdown
and what users report of HTML input. The blocks in between are html-to-markdown's.
"""

from html import escape
from typing import Any

from html_to_markdown import convert
from lxml import etree
from lxml import html as lxml_html

_PAGE_BREAK = "<!-- PageBreak -->"
_BLOCKS_A_PAGE = 12


def cu_markdown(page: str, *, keeps_links: bool = False) -> str:
    """What the service might make of a page; whether hyperlinks survive differs by report."""
    body = lxml_html.document_fromstring(page).body
    etree.strip_elements(body, "img", "script", "style", with_tail=False)
    if not keeps_links:
        etree.strip_tags(body, "a")
    kept: list[str] = []
    for table in list(body.iter("table")):
        _put_aside(table, _table(table), kept)
    for quote in list(body.iter("blockquote")):
        _put_aside(quote, f"<figure>\n\n{_text(quote)}\n\n</figure>", kept)
    blocks = convert(lxml_html.tostring(body, encoding="unicode")).content or ""
    text = _with_page_breaks(blocks)
    for number, markup in enumerate(kept):
        text = text.replace(_place(number), f"\n\n{markup}\n\n")
    return text


def _put_aside(element: Any, markup: str, kept: list[str]) -> None:
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "p", _place(len(kept)), tail
    kept.append(markup)


def _place(number: int) -> str:
    return f"KEPTMARKUP{number}END"


def _table(table: Any) -> str:
    rows = [
        "\n".join(
            [
                "<tr>",
                *(
                    f"<{cell.tag}{_spans(cell)}>{escape(_text(cell), quote=False)}</{cell.tag}>"
                    for cell in row.iter("td", "th")
                ),
                "</tr>",
            ]
        )
        for row in table.iter("tr")
    ]
    return "\n".join(["<table>", *rows, "</table>"])


def _spans(cell: Any) -> str:
    return "".join(f' {name}="{cell.get(name)}"' for name in ("colspan", "rowspan") if cell.get(name))


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _with_page_breaks(markdown: str) -> str:
    blocks = markdown.split("\n\n")
    fences = 0
    for number, block in enumerate(blocks):
        is_outside = fences % 2 == 0
        fences += block.count("```")
        if number % _BLOCKS_A_PAGE == _BLOCKS_A_PAGE - 1 and is_outside and not block.startswith((" ", "\t")):
            blocks[number] = f"{_PAGE_BREAK}\n\n{block}"
    return "\n\n".join(blocks)
