"""Read markdown of any dialect as the tree of an article, and write the tree as our markdown.

A service mixes markdown with HTML (tables, figures, page breaks). Read as a browser would, both become one tree, from
which markdown without leftover markup is written.
"""

from lxml import etree

from kb_pipeline.steps.html.convert import flatten_tree
from kb_pipeline.steps.html.dom import Element, parse, remove
from kb_pipeline.steps.html.hidden import drop_hidden, hide
from kb_pipeline.steps.html.links import tidy_links
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.page import visible_body
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.html.tables import unwrap_layout_tables
from kb_pipeline.steps.markdown_parsers import service_parser


def read_tree(markdown: str) -> Element:
    """Return the tree of a markdown text without anything invisible or images; mark those beforehand."""
    page = parse(service_parser().render(markdown))
    body = etree.Element("body")
    if page is not None:
        hidden = hide(page)
        body = visible_body(page)
        drop_hidden(body, hidden)
    remove(body, list(body.iter("img", "image")))
    return body


def write_tree(tree: Element, placeholders: Placeholders) -> str:
    """Write the tree as markdown."""
    tidy_links(tree)
    unwrap_layout_tables(tree)
    flatten_tree(tree, placeholders)
    return write_markdown(tree, placeholders)
