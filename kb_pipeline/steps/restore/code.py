"""Code must be exact: what a service read of a code block is replaced by the block of the article."""

from collections.abc import Iterator
from copy import deepcopy

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block
from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.words import Reading, Span

_FOUND = 0.5
_ONLY = 0.6
"""The share of a line's words that must be those of code for the line to be code."""
_LINES = HEADINGS | {"p", "pre", "li"}


def restore_code_blocks(truth: Reading, reading: Reading, alignment: Alignment) -> int:
    """Replace every code block that is found, in place; return how many could not be.

    What the service took for code and the article has as text becomes a paragraph.
    """
    blocks = truth.of("pre")
    block_of = {word: number for number, block in enumerate(blocks) for word in range(block.first, block.end)}
    found = [number for number, block in enumerate(blocks) if alignment.coverage(block.first, block.end) >= _FOUND]
    lines = {line: sources for line, sources in _code_lines(reading, alignment, block_of) if sources & {*found}}
    replaced = set()
    for number in found:
        first = next((line for line, sources in lines.items() if number in sources), None)
        if first is not None:
            _insert_before(first.element, deepcopy(blocks[number].element))
            replaced.add(number)
    for line in lines:
        _clear(line.element)
    for span in reading.of("pre"):
        if span not in lines and _is_text(span, alignment, block_of):
            span.element.tag = "p"
    return len(blocks) - len(replaced)


def _code_lines(reading: Reading, alignment: Alignment, block_of: dict[int, int]) -> Iterator[tuple[Span, set[int]]]:
    """The lines that are code, each with the numbers of the blocks it is from."""
    for line in reading.lines:
        sources = [block_of.get(alignment.sources.get(word, -1)) for word in range(line.first, line.end)]
        known = [source for source in sources if source is not None]
        if len(known) >= _ONLY * len(sources) and line.element.tag in _LINES:
            yield line, set(known)


def _insert_before(line: Element, block: Element) -> None:
    block.tail = None
    parent = line.getparent()
    if line.tag == "li" and parent is not None:
        parent.addprevious(block)
    else:
        line.addprevious(block)


def _clear(line: Element) -> None:
    """Take the words of a line away; what is empty then is dropped when the tree is written."""
    line.text = None
    for child in list(line):
        if is_block(child):
            break
        line.remove(child)


def _is_text(block: Span, alignment: Alignment, block_of: dict[int, int]) -> bool:
    sources = [alignment.sources.get(word) for word in range(block.first, block.end)]
    outside = sum(source is not None and source not in block_of for source in sources)
    return bool(sources) and outside >= _ONLY * len(sources)
