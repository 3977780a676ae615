"""Whether what a PDF calls its title is one: programs write "(anonymous)", "Document1" or the name of a file there."""

import re
from collections.abc import Iterable, Sequence

from kb_pipeline.steps.pdf.lines import Line, rows_of
from kb_pipeline.steps.pdf.model import Page
from kb_pipeline.steps.pdf.outline import squash

FIRST_PAGES = 3
"""Pages on which a document says what it is called: cover, inner title and the first of the text."""
_MOST_LINES = 6
"""Lines over which a title may be broken on a cover."""
_SHARE = 0.5
"""Share of the lines in which a title stands: more is a sentence that has the same words."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_HEADING = re.compile(r"<h[1-6]\b")


def title_of(given: str, body: str, pages: Iterable[Page]) -> str:
    """The title that a document gives itself, or "" if its pages do not bear it out.

    They do if one of the first shows it in lines of its own. If no heading stands there either, it is enough that each
    of its words is in the text.
    """
    first = [page for page in pages if page.number <= FIRST_PAGES]
    wanted = squash(given)
    if not wanted or any(_shows(wanted, [piece for row in rows_of(page)[0] for piece in row]) for page in first):
        return given if wanted else ""
    if _HEADING.search(body.partition('data-number="2"')[0]):
        return ""
    words, text = _WORD.findall(given.casefold()), " ".join(page.text for page in first).casefold()
    return given if words and all(word in text for word in words) else ""


def _shows(wanted: str, lines: Sequence[Line]) -> bool:
    said = [squash(line.text) for line in lines]
    for begin in range(len(said)):
        together = ""
        for part in said[begin : begin + _MOST_LINES]:
            together += part
            if wanted in together:
                if len(wanted) >= _SHARE * len(together):
                    return True
                break
    return False
