"""Turn what a service read of a document into an article: its words and structure, with our pages, images and links.

Unlike a page of HTML, a document says little about its structure, so headings, tables and lists stay as the service
found them. From our own reading come the images inside the document, the links, the code, and where pages begin.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from lxml import etree

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import ConvertedArticle, ImageInfo, PageInfo
from kb_pipeline.steps.html.content import count_content
from kb_pipeline.steps.html.convert import convert_document, flatten_tree
from kb_pipeline.steps.html.dom import Element, text_of
from kb_pipeline.steps.html.links import tidy_links
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.page_marks import keep_pages, mark_pages
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.html.tables import unwrap_layout_tables
from kb_pipeline.steps.pages import PAGE_TAG, find_marks, split_marks
from kb_pipeline.steps.restore.align import Alignment, align
from kb_pipeline.steps.restore.article import read_service, read_truth, restore_tree
from kb_pipeline.steps.restore.recognise import Marks
from kb_pipeline.steps.restore.words import ComparedWord, Reading, folded, read_words

DOCUMENT_VERSION = "2"
"""Increase it whenever the same answer of a service would give a different article."""

_CODE = ("pre", "listing", "xmp")
_EDGE = 2
"""Blocks at the top and at the bottom of a page among which running heads are looked for."""
_MOSTLY = 0.9
"""Share of a page's words that are unwanted, from which nothing of the page is left."""
_PAGE_PLACE = "KBPAGE{}KBPAGE"


class OwnReading(NamedTuple):
    """Our own reading of the document ``name``, and its pages with the words on them that are no content."""

    name: str
    article: ConvertedArticle
    pages: Sequence[PageInfo]
    left_out: Mapping[int, str]


def own_reading(
    article_id: str,
    name: str,
    html: str,
    images: Mapping[str, ImageInfo],
    pages: Sequence[PageInfo],
    left_out: Mapping[int, str],
) -> OwnReading:
    """Convert what a source read of a document. It may hold nothing: pages without text are for the service."""
    try:
        article = convert_document(article_id, name, html, images, [page.number for page in pages])
    except EmptyArticleError:
        article = ConvertedArticle(article_id=article_id, title=article_id, markdown="", converter="")
    return OwnReading(name, article, pages, left_out)


def restore_document(own: OwnReading, texts: Sequence[str], converter: str) -> ConvertedArticle:
    """Build an article from the ``texts`` that a service read of a document, and our own reading of it.

    If there is a text for each page of the document, pages begin where the texts do. Else they begin where most words
    of our own reading say so. Images and links whose place is unknown are named in ``unplaced``, which fails a check.

    Raises:
        EmptyArticleError: neither we nor the service found text or an image.
    """
    local = own.article
    if not local.images and not any(map(str.strip, texts)):
        raise EmptyArticleError(f"{local.article_id}: {own.name} holds no text and no image")
    marks = Marks(Placeholders())
    truth = read_truth(split_marks(local.markdown).text, marks)
    labels = {page.number: page.label for page in own.pages}
    if len(texts) == len(labels):
        trees = [read_service(text, local, marks) for text in texts]
        for (number, label), page in zip(labels.items(), trees, strict=True):
            _leave_out(page, own.left_out.get(number, ""))
            _begin_page(page, _page_element(number, label))
        tree = _joined(trees)
    else:
        tree = read_service("\n\n".join(texts), local, marks)
    losses = restore_tree(truth, tree, marks)
    if len(texts) != len(labels):
        _begin_pages(tree, truth, local.markdown, labels, marks)
    tidy_links(tree)
    keep_pages(tree, labels.keys())
    unwrap_layout_tables(tree)
    counts = count_content(tree)
    flattened = flatten_tree(tree, marks.placeholders)
    mark_pages(tree, marks.placeholders)
    return local.model_copy(
        update={
            "markdown": write_markdown(tree, marks.placeholders),
            "counts": counts.model_copy(
                update={
                    "links": local.counts.links,
                    "images": local.counts.images,
                    "tables": flattened.tables,
                    "code_blocks": flattened.code_blocks,
                }
            ),
            "unplaced_images": sum(lost.kind == "image" for lost in losses.unplaced),
            "unplaced": losses.unplaced,
            "warnings": (*local.warnings, *losses.warnings(converter)),
            "converter": converter,
        }
    )


def _page_element(number: int, label: str) -> Element:
    return etree.Element(PAGE_TAG, {"data-number": str(number), "data-label": label})


def _leave_out(page: Element, words: str) -> None:
    """Remove running heads and page numbers at the edges of a page, and all of a page that is left out as a whole."""
    unwanted = Counter(_keys(words))
    if not unwanted:
        return
    everything = Counter(_keys(text_of(page)))
    if (everything & unwanted).total() >= _MOSTLY * everything.total():
        page.text = None
        del page[:]
        return
    blocks = list(page)
    for block in dict.fromkeys([*blocks[:_EDGE], *blocks[-_EDGE:]]):
        words_of_block = Counter(_keys(text_of(block)))
        if words_of_block and not words_of_block - unwanted:
            unwanted -= words_of_block
            page.remove(block)


def _keys(text: str) -> list[str]:
    return [folded(part) for part in "".join(sign if sign.isalnum() else " " for sign in text).split()]


def _begin_page(page: Element, mark: Element) -> None:
    """Put the mark before the first word of a page, so that it stays there when pieces of pages are joined."""
    for element in page.iter():
        if not (element.text or "").strip():
            continue
        code = [outer for outer in (element, *element.iterancestors()) if outer.tag in _CODE]
        if code:
            code[-1].addprevious(mark)
        else:
            mark.tail, element.text = element.text, None
            element.insert(0, mark)
        return
    page.insert(0, mark)


def _joined(pages: Sequence[Element]) -> Element:
    body = etree.Element("body")
    for page in pages:
        if (page.text or "").strip():
            etree.SubElement(body, "p").text = page.text
        body.extend(list(page))
    return body


def _begin_pages(tree: Element, truth: Reading, markdown: str, labels: Mapping[int, str], marks: Marks) -> None:
    """Put the mark of each page before the word at which most words of our own reading say that it begins."""
    pages = _page_of_words(truth, markdown)
    reading = read_words(tree, marks.keys)
    starts = _first_words(pages, align(truth, reading), list(labels), len(reading.words))
    for number, word in sorted(starts.items(), reverse=True):
        mark = _page_element(number, labels[number])
        if word == len(reading.words):
            tree.append(mark)
        else:
            _insert_before(mark, reading.words[word])


def _page_of_words(truth: Reading, markdown: str) -> list[int]:
    """Return the page of each word of our own reading; 0 before the first page."""
    breaks = find_marks(markdown)
    places, parts, done = [mark.page for mark in breaks], [], 0
    for number, mark in enumerate(breaks):
        parts += [markdown[done : mark.start], f" {_PAGE_PLACE.format(number)} "]
        done = mark.end
    marked = read_truth("".join([*parts, markdown[done:]]), Marks(Placeholders()))
    place_of = {_PAGE_PLACE.format(number): page for number, page in enumerate(places)}
    begins, numbers, letters = [0], [0], 0
    for word in marked.words:
        if word.written in place_of:
            begins.append(letters)
            numbers.append(place_of[word.written])
        else:
            letters += len(word.key)
    ends = accumulate(len(word.key) for word in truth.words)
    return [numbers[bisect_right(begins, end - 1) - 1] for end in ends]


def _first_words(pages: Sequence[int], alignment: Alignment, numbers: Sequence[int], count: int) -> dict[int, int]:
    """Return the word of the service's text at which each page begins: where fewest words are on a wrong side."""
    sources = sorted(alignment.sources.items())
    starts: dict[int, int] = {}
    position = 0
    for number in numbers:
        best, best_position, score = 0, position, 0
        for place in range(position, len(sources)):
            is_before = pages[sources[place][1]] < number
            score += 1 if is_before else -1
            if score > best:
                best, best_position = score, place + 1
            if pages[sources[place][1]] > number + 1:
                break
        position = best_position
        starts[number] = sources[position][0] if position < len(sources) else count
    return starts | ({numbers[0]: 0} if numbers else {})


def _insert_before(mark: Element, word: ComparedWord) -> None:
    element, is_tail = word.spot
    text = word.spot.text
    mark.tail = text[word.start :]
    if is_tail:
        element.tail = text[: word.start]
        parent = element.getparent()
        assert parent is not None
        parent.insert(parent.index(element) + 1, mark)
    else:
        element.text = text[: word.start]
        element.insert(0, mark)
