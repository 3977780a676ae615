"""Markdown of any writer as the tree of an article, and back in our own dialect.

A service mixes markdown with HTML (tables, figures, page breaks); read as a browser would, both are one tree, and what
is written from that has no markup left over.
"""

from functools import cache

from lxml import etree
from markdown_it import MarkdownIt

from kb_pipeline.steps.html.convert import flatten_tree
from kb_pipeline.steps.html.dom import Element, parse
from kb_pipeline.steps.html.layout_tables import unwrap_layout_tables
from kb_pipeline.steps.html.links import tidy_links
from kb_pipeline.steps.html.main_content import visible_body
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.placeholders import Placeholders

_DEEPEST = 100


def read_tree(markdown: str) -> Element:
    """The tree of a markdown text without anything that is not shown; images are the caller's to mark beforehand."""
    page = parse(_parser().render(markdown))
    body = etree.Element("body") if page is None else visible_body(page)
    for image in list(body.iter("img", "image")):
        image.tag = "template"
    etree.strip_elements(body, "template", with_tail=False)
    return body


def write_tree(tree: Element, placeholders: Placeholders) -> str:
    """The tree as markdown."""
    tidy_links(tree)
    unwrap_layout_tables(tree)
    flatten_tree(tree, placeholders)
    return write_markdown(tree, placeholders)


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Read every link: which of them stay is decided by the article's own."""
        return True

    def normalizeLink(self, url: str) -> str:
        """Targets stay as they are written."""
        return url


@cache
def _parser() -> MarkdownIt:
    return _Parser("commonmark", {"html": True, "maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
