"""How much of each kind the main content holds, before anything is rewritten."""

from kb_pipeline.records import DocumentCounts
from kb_pipeline.steps.html.dom import HEADINGS, LISTS, Element, has_text


def count_content(main: Element) -> DocumentCounts:
    """Count what must survive the conversion; images and tables are counted where they are judged."""
    items = [item for item in main.iter("li") if has_text(item)]
    return DocumentCounts(
        words=sum(len(text.split()) for text in main.itertext()),
        headings=sum(has_text(heading) for heading in main.iter(*HEADINGS)),
        links=sum(has_text(link) for link in main.iter("a")),
        list_items=sum(1 for item in items if (parent := item.getparent()) is not None and parent.tag in LISTS),
    )
