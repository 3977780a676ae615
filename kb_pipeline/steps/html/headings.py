"""Headings that a dialect writes without a heading element."""

from kb_pipeline.steps.html.dom import HEADINGS, Element, classes, dissolve, has_text


def tidy_headings(page: Element) -> None:
    """Give Doxygen's page title its element, and empty headings none, in place."""
    for heading in list(page.iter(*HEADINGS)):
        if not has_text(heading) and next(heading.iter("img"), None) is None:
            dissolve(heading)
    for element in page.iter("div"):
        parent = element.getparent()
        if "title" in classes(element) and parent is not None and "headertitle" in classes(parent):
            element.tag = "h1"
            return
