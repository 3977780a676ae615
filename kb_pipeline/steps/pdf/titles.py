"""The title of a PDF: whether what it calls so is one, as programs write "(anonymous)" or the name of a file there.

Or else what stands large on its first page, where tags name none: Word tags its style *Title* as plain paragraphs. The
first heading inside would otherwise be the title, such as the "Overview" of every manual of a series."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from kb_pipeline.steps.pdf.lines import Line, rows_of
from kb_pipeline.steps.pdf.model import Page, Word
from kb_pipeline.steps.pdf.outline import squash
from kb_pipeline.steps.pdf.tagged import GROUPS, HEADING, Content, Element, tagged_words

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


_LARGE = 1.3
"""Size of a title, in sizes of the text."""
_FEWEST, _MOST = 3, 160
"""Characters of a title."""


def mark_title(roots: Sequence[Element], pages: Sequence[Page]) -> None:
    """Make one title of the large paragraphs with which the first page begins, unless a heading stands on it."""
    sizes: Counter[float] = Counter()
    first: dict[int, list[Word]] = defaultdict(list)
    for page in pages:
        for word in (word for word in page.words if not word.style.hidden):
            sizes[round(word.style.size, 1)] += len(word.text)
            if page.number == 1:
                first[word.style.mcid].append(word)
    if not first:
        return
    large = _LARGE * sizes.most_common(1)[0][0]
    blocks = [(block, words) for block in _blocks(roots) if (words := _words(block, first))]
    if any(block.kind == "Title" or HEADING.match(block.kind) for block, _ in blocks):
        return
    title = list(takewhile(lambda each: each[0].kind == "P" and min(w.style.size for w in each[1]) >= large, blocks))
    if not _FEWEST <= len(" ".join(word.text for _, words in title for word in words)) <= _MOST:
        return
    parts = [part for block, _ in title for part in block.ordered()]
    for block, _ in title:
        block.children = {}
    title[0][0].kind, title[0][0].children = "Title", dict(enumerate(parts))


def _blocks(nodes: Sequence[Element | Content]) -> Iterator[Element]:
    """Yield the elements that are not mere groups, in the order of reading."""
    for node in nodes:
        if isinstance(node, Element):
            yield from _blocks(node.ordered()) if node.kind in GROUPS else (node,)


def _words(block: Element, first: dict[int, list[Word]]) -> list[Word]:
    """Return the words of a block on the first page."""
    return [word for page, mcid in tagged_words([block]) if page == 1 for word in first.get(mcid, ())]
