"""The title on the first page of a document whose tags name none: Word tags its style *Title* as plain paragraphs.

Without it, the first heading inside would be the document's title, such as the "Overview" of every manual of a series.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from kb_pipeline.steps.pdf.model import Page, Word
from kb_pipeline.steps.pdf.tagged import GROUPS, HEADING, Content, Element, tagged_words

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
