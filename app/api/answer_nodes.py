"""The markdown of an answer as names of elements and texts, for programs that draw it without any HTML of ours.

Like on the page, raw HTML is text, links lead to the web only, and pictures come from the service alone. Pure.
"""

import re
from collections.abc import Iterator

from markdown_it.tree import SyntaxTreeNode

from app.grounding.citations import IMAGE_ROUTE
from app.grounding.references import find_references
from app.schema.widget import Node
from kb_pipeline.steps.markdown_parsers import safe_parser

_REF = "\U00010102"  # markdown takes it for punctuation, so emphasis next to it still works
_NUMBER = re.compile(f"{_REF}(\\d+){_REF}")
_WEB = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_NAMES = {
    **{"paragraph": "p", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li", "blockquote": "blockquote"},
    **{"strong": "strong", "em": "em", "s": "s", "hr": "hr", "hardbreak": "br"},
    # below the heading of the widget
    **{"heading": "h3", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th", "td": "td"},
}
"""Elements that are drawn as they are."""


_PARSER = safe_parser().disable("reference")
"""Without link definitions, which could turn references to passages into links."""


def answer_nodes(markdown: str, images: str) -> tuple[Node, ...]:
    """What the markdown consists of; ``images`` is the path below which pictures are, in place of the service's own."""
    parts: list[str] = []
    done = 0
    markdown = markdown.replace(_REF, "")
    for start, end, number in find_references(markdown):
        parts += (markdown[done:start], f"{_REF}{number}{_REF}")
        done = end
    tree = SyntaxTreeNode(_PARSER.parse("".join((*parts, markdown[done:]))))
    return tuple(_nodes(tree, images))


def _nodes(parent: SyntaxTreeNode, images: str) -> Iterator[Node]:
    for node in parent.children:
        match node.type:
            case "text":
                yield from _text(node.content)
            case "softbreak":
                yield "\n"
            case "inline":
                yield from _nodes(node, images)
            case "code_inline":
                yield ["code", None, node.content]
            case "fence" | "code_block":
                yield ["pre", None, ["code", None, node.content]]
            case "image":
                source = str(node.attrs.get("src", ""))
                alt = _NUMBER.sub("", node.content)
                yield ["img", images + source.removeprefix(IMAGE_ROUTE), alt] if source.startswith(IMAGE_ROUTE) else alt
            case "link" if _WEB.match(str(node.attrs.get("href", ""))):
                yield ["a", str(node.attrs["href"]), *_nodes(node, images)]
            case kind if kind in _NAMES:
                start = node.attrs.get("start") if kind == "ordered_list" else None
                yield [_NAMES[kind], start, *_nodes(node, images)]
            case _:  # a link that leads nowhere from here, or something that only programs read
                yield from _nodes(node, images) if node.children else _text(node.content)


def _text(text: str) -> Iterator[Node]:
    """Yield the text, and each reference in it as an element of its number."""
    for at, piece in enumerate(_NUMBER.split(text)):
        if at % 2:
            yield ["ref", int(piece)]
        elif piece:
            yield piece
