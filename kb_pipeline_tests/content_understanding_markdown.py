"""Markdown as Content Understanding writes it for HTML: tables as HTML, figures, no images, often no hyperlinks.

After the documented sample of https://learn.microsoft.com/azure/ai-services/content-understanding/document/markdown
and what users report of HTML input. The blocks in between are markdownify's, a library that the pipeline does not use,
with the ``service_habits`` of the service.
"""

from html import escape

from bs4 import BeautifulSoup, Tag
from markdownify import markdownify

from kb_pipeline_tests.service_habits import CONTENT_UNDERSTANDING, Habits

_PUT_ASIDE = "KEPTMARKUP{}END"


def cu_markdown(page: str, habits: Habits = CONTENT_UNDERSTANDING["careful"]) -> str:
    """What the service might make of a page; whether hyperlinks survive differs by report."""
    body = BeautifulSoup(page, "lxml").body
    assert body is not None
    for element in body.find_all(["img", "script", "style"]):
        element.decompose()
    for link in [] if habits.keeps_links else body.find_all("a"):
        link.unwrap()
    kept: list[str] = []
    for element in body.find_all(["table", "blockquote"]):
        if not element.find_parent(["table", "blockquote"]):
            kept.append(_table(element) if element.name == "table" else f"<figure>\n\n{_text(element)}\n\n</figure>")
            element.name, element.attrs = "p", {}
            element.string = _PUT_ASIDE.format(len(kept) - 1)
    markdown = markdownify(str(body), heading_style="ATX", code_language="", bullets="*+-")
    for number, markup in enumerate(kept):
        markdown = markdown.replace(_PUT_ASIDE.format(number), f"\n\n{markup}\n\n")
    return habits.of(markdown)


def _table(table: Tag) -> str:
    rows = [
        "\n".join(["<tr>", *(_cell(cell) for cell in row.find_all(["td", "th"])), "</tr>"])
        for row in table.find_all("tr")
    ]
    return "\n".join(["<table>", *rows, "</table>"])


def _cell(cell: Tag) -> str:
    spans = "".join(f' {name}="{cell[name]}"' for name in ("colspan", "rowspan") if cell.get(name))
    return f"<{cell.name}{spans}>{escape(_text(cell), quote=False)}</{cell.name}>"


def _text(element: Tag) -> str:
    return " ".join(element.get_text().split())
