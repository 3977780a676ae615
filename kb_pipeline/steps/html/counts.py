"""How much of each kind the main content holds, before anything is rewritten."""

from kb_pipeline.records import DocumentCounts
from kb_pipeline.steps.html.code import CODE_BLOCKS
from kb_pipeline.steps.html.dom import HEADINGS, LISTS, Element, has_text


def count_content(main: Element) -> DocumentCounts:
    """Count what must survive the conversion; images, tables and code are counted where they are judged.

    What stands in a code block is its code, whatever the page made of it.
    """
    items = [item for item in main.iter("li") if _is_shown(item)]
    return DocumentCounts(
        words=sum(len(text.split()) for text in main.itertext()),
        headings=sum(_is_shown(heading) for heading in main.iter(*HEADINGS)),
        links=sum(_is_shown(link) for link in main.iter("a")),
        list_items=sum(1 for item in items if (parent := item.getparent()) is not None and parent.tag in LISTS),
    )


def _is_shown(element: Element) -> bool:
    return has_text(element) and next(element.iterancestors(*CODE_BLOCKS), None) is None
