"""How a model is shown the text of others: between delimiters, as data that are no instructions. Pure."""

import re
from collections.abc import Iterable

from app.schema.passages import Citation

NO_MATCHES = "(no matches)"
"""What a model reads in place of the passages if there are none."""

NOT_CLEAR = (
    "(the search found nothing that clearly answers this: unless the passages do answer, say that the articles do not)"
)
"""What a model reads before passages that the search does not trust."""

_OPENING, _CLOSING = "<untrusted_passage>", "</untrusted_passage>"
_MARKUP = re.compile(
    r"<(?=\s*/?\s*untrusted_passage)"  # our own delimiter
    r"|<(?=\|[\w-]{1,40}\|>)"  # the turns of chat templates (<|im_end|>), which local servers read even in content
    r"|\[(?=/?INST\])",
    re.IGNORECASE,
)
_BODY = re.compile(rf"(?<=\n{_OPENING}\n).*?(?=\n{_CLOSING})", re.DOTALL)
_LONGEST_LINE = 300
"""Characters of a title or a place in a passage's head: what a heading takes, and little of the budget."""


def format_passages(citations: Iterable[Citation], *, is_doubtful: bool = False) -> str:
    """Passages as numbered blocks, ``[1]``, ``[2]``, in the given order; ``(no matches)`` if there are none.

    ``is_doubtful``: the search does not expect that they answer, and the model is told so.

    All text of an article is between its block's delimiters, and none of it can look like a delimiter.
    """
    blocks = [_block(citation) for citation in citations]
    return "\n\n".join((*((NOT_CLEAR,) if is_doubtful else ()), *blocks)) if blocks else NO_MATCHES


def format_numbered(number: int, text: str) -> str:
    """The text of a passage under its number, without the facts of its article."""
    return f"[{number}]\n{format_result(text)}"


def format_result(text: str) -> str:
    """What a tool returned that is no passage: data of others as well, without a number to refer to."""
    return "\n".join([_OPENING, harmless(text), _CLOSING])


def _block(citation: Citation) -> str:
    heading = f"[{citation.number}]"
    lines = [f"{'Web page' if citation.is_of_web else 'Article'}: {_line(citation.title)}"]
    if citation.is_of_web:
        lines += [f"Source: {_line(citation.source_url or '')}", f"Fetched: {citation.fetched}"]
        return "\n".join([heading, _OPENING, *lines, "", harmless(citation.passage), _CLOSING])
    if section := " > ".join(citation.heading_path) or citation.section:
        lines.append(f"Section: {_line(section)}")
    if citation.filename:
        pages = f", {citation.pages_in_words}" if citation.pages_in_words else ""
        lines += [f"File: {_line(citation.filename)}{_line(pages)}", f"doc_id: {citation.article_id}"]
    if citation.source_url:
        lines.append(f"Source: {_line(citation.source_url)}")
    lines += [f"Image: {image.url}" for image in citation.images]
    return "\n".join([heading, _OPENING, *lines, "", harmless(citation.passage), _CLOSING])


def shorten_passages(blocks: str, characters: int) -> str:
    """The same blocks, each cut after some characters, with a mark where text was left out."""

    def shorter(body: re.Match[str]) -> str:
        text = body[0]
        return text if len(text) <= characters else text[:characters].rstrip() + "\n[...]"

    return _BODY.sub(shorter, blocks)


def _line(text: str) -> str:
    return harmless(" ".join(text.split()))[:_LONGEST_LINE]


def harmless(text: str) -> str:
    """Text of others, escaped where it would end the block or begin a turn of the conversation."""
    return _MARKUP.sub(lambda match: "&lt;" if match[0] == "<" else "&#91;", text)
