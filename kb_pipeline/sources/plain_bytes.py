"""Files of text: decoded in whatever encoding they are, and refused if they are something else."""

import re

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources.first_bytes import binary_kind_of
from kb_pipeline.steps.html.decode import to_text

MOST_TEXT = 20_000_000
"""Bytes of one text; a book of 1,000 pages has some 3 million."""
_SAMPLE = 10_000
"""Characters that tell text from anything else."""
_MOST_CONTROLS = 20
"""Control characters in them: a text may be damaged, a program has hundreds."""
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f�]")
"""Characters that no text has, and what stands for bytes that are none; escapes colour what programs print."""
_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml|head|body)\b", re.I)


def text_in(name: str, data: bytes, most: int = MOST_TEXT) -> str:
    """Return the text of a file, with the line ends that all systems agree on.

    Raises:
        UnreadableArticleError: it is no text, or too much of it.
        EmptyArticleError: there are only blanks.
    """
    if len(data) > most:
        raise UnreadableArticleError(
            f"{name} has {len(data):,} bytes of text, at most {most:,} are read; split it into documents"
        )
    if kind := binary_kind_of(data):
        raise UnreadableArticleError(f"{name} is {kind} under another name; rename it")
    text = to_text(data).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip("\x00 \t\n\r\f\v"):
        raise EmptyArticleError(f"{name} is empty; stage the article again")
    if len(_CONTROLS.findall(text[:_SAMPLE])) > _MOST_CONTROLS:
        raise UnreadableArticleError(f"{name} is binary, and no text; stage the document that it was made from")
    if _PAGE.match(text):
        raise UnreadableArticleError(f"{name} is a page of HTML or XML under another name; rename it")
    return text.replace("\x00", "")
