"""Write the tidied tree as markdown, by html-to-markdown, with all text escaped.

Quotes and tables are written separately and inserted as placeholders, because html-to-markdown is unreliable about
their position among other blocks (in a list item, after a list).
"""

import re
from html import unescape

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.html.dom import Element, replace_with_text
from kb_pipeline.steps.html.list_numbers import sign_lists, write_signs
from kb_pipeline.steps.html.placeholders import Placeholders, escaped

_OPTIONS = ConversionOptions(
    extract_metadata=False,
    autolinks=False,
    bullets="-",
    compact_tables=True,
    br_in_tables=True,
    sub_symbol="<sub>",
    sup_symbol="<sup>",
    highlight_style="none",
    include_blockquote_citations=False,
    expand_abbreviations=False,
    preprocessing=PreprocessingOptions(enabled=False),
)
_SPECIAL = re.compile(
    r"""
    [*`\[\]\\]                              # emphasis, code, links, the escape itself
  | (?<![^\W_])_ | _(?![^\W_])              # emphasis; not inside a word
  | ~(?=~) | (?<=~)~                        # strikethrough
  | &lt;(?=[A-Za-z/!?])                     # a tag or an autolink
  | &amp;(?=\#?\w+;)                        # an entity
  | !(?=<a\b)                               # before a link it would make an image
    """,
    re.VERBOSE,
)
_TABLE_RULE = re.compile(r"\|(?=\s*:?-)")
_LINK = re.compile(r"\]\(link:(\d+)\)")
_PLAIN_TARGET = re.compile(r"[^\s<>()\\]+")
_BLANK_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n){2,}")
_DANGLING_BREAK = re.compile(r"[ \t]+(?=\n[ \t]*\n|\Z)")


def write_markdown(main: Element, placeholders: Placeholders) -> str:
    """Write the tree as markdown. It must contain plain blocks only (``paragraphs``, ``tables``).

    Raises:
        UnreadableArticleError: html-to-markdown dropped content.
    """
    writer = _Writer()
    for block in reversed(list(main.iterdescendants("blockquote", "table"))):
        markdown = writer.quote(block) if block.tag == "blockquote" else writer.write(block)
        replace_with_text(block, placeholders.add(markdown), "p")
    return placeholders.restore(writer.write(main)).strip() + "\n"


def link_target(target: str) -> str:
    """Return a link's target as written in markdown (https://spec.commonmark.org/0.31.2/#link-destination)."""
    target = re.sub(r"&(?=#?\w+;)", r"\\&", target.replace("\\", "\\\\"))
    if _PLAIN_TARGET.fullmatch(target):
        return target
    return "<" + re.sub(r"([<>])", r"\\\1", target) + ">"


class _Writer:
    """Writes the trees of one article, and keeps the targets of its links."""

    def __init__(self) -> None:
        self._targets: list[str] = []

    def write(self, tree: Element) -> str:
        in_table = tree.tag == "table"
        sign_lists(tree)
        for element in tree.iter():
            self._keep_attributes(element, in_table)
        html = etree.tostring(tree, encoding="unicode", method="html", with_tail=False)
        # Code is no longer in the tree, so white space can be collapsed.
        html = _SPECIAL.sub(_escape, re.sub(r"\s+", " ", html))
        if not in_table:
            html = _TABLE_RULE.sub(_escape, html)
        result = convert(html, _OPTIONS)
        if result.warnings:
            raise UnreadableArticleError(f"the page cannot be converted whole: {result.warnings[0].message}")
        markdown = _LINK.sub(lambda match: f"]({self._targets[int(match[1])]})", write_signs(result.content or ""))
        return _BLANK_LINES.sub("\n\n", _DANGLING_BREAK.sub("", markdown)).strip("\n")

    def quote(self, block: Element) -> str:
        block.tag = "body"
        return "\n".join(f"> {line}" if line else ">" for line in self.write(block).split("\n"))

    def _keep_attributes(self, element: Element, in_table: bool) -> None:
        target, start = element.get("href"), element.get("start")
        if element.attrib:
            element.attrib.clear()
        if element.tag == "a" and target:
            element.set("href", f"link:{len(self._targets)}")
            written = link_target(target)
            self._targets.append(written.replace("|", "\\|") if in_table else written)
        elif element.tag == "ol" and start and start.isascii() and start.isdigit() and len(start) < 9:
            element.set("start", start)


def _escape(match: re.Match[str]) -> str:
    return escaped(unescape(match[0]))
