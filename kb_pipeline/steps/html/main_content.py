"""Keep the main content of a page of the open web: the blocks that a model, learned from annotated pages, takes for it.

The model is a small forest of decision trees over the numbers of ``text_blocks``; it knows no site and no language, and
``benchmarks/web_content_training.py`` writes it. Pages of documentation tools, exports and hand-written pages are never
given to it: their authors put all that they hold there. Pure.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from lxml import etree

from kb_pipeline.records import LeftOutText
from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block, names, remove
from kb_pipeline.steps.html.text_blocks import Flags, Numbers, TextBlocks

MODEL_FILE = "main_content.npz"

_DRESSED = etree.XPath(
    "boolean(//meta[starts-with(@property, 'og:') or starts-with(@name, 'og:') or starts-with(@name, 'twitter:')"
    " or starts-with(@property, 'twitter:')] | //script[contains(@type, 'ld+json')])"
)
"""Pages of the web are dressed for social networks and search engines: 9 of 10 in WCXB; of manuals, few.

A canonical link is no such sign: many manuals have one (Node's), and would lose notes. Without it WCXB's test split is
.006 lower.
"""
_TOOLS = names(
    "docbook dita sphinx docutils mkdocs docusaurus doxygen asciidoctor asciidoc antora publican javadoc rustdoc "
    "mdbook bookdown gitbook hugo vitepress vuepress mediawiki dokuwiki confluence jekyll"
)
_NAME = re.compile("[a-z]+")
_LEAST_KEPT, _MOST_KEPT = 0.01, 0.95
"""Where the model keeps less of what our own rules leave, it does not know such a page; where it keeps more, nearly all
is main content, and what it would leave out may be as well."""
_SURE = 1.2
"""Power of the probabilities: of 1 a page keeps more of what is in doubt; measured on WCXB's development split."""


class _Forest(NamedTuple):
    """Decision trees side by side: for each node the feature, its greatest value to the left, and both children."""

    feature: "np.typing.NDArray[np.int16]"
    threshold: Numbers
    left: "np.typing.NDArray[np.int16]"
    right: "np.typing.NDArray[np.int16]"
    value: Numbers
    name_scores: dict[str, float]

    def probabilities(self, features: Numbers) -> Numbers:
        """How likely each row is main content."""
        rows, trees = np.arange(len(features))[:, None], np.arange(len(self.feature))[None, :]
        nodes = np.zeros((len(features), len(self.feature)), np.int16)
        while True:
            is_left = features[rows, self.feature[trees, nodes]] <= self.threshold[trees, nodes]
            following = np.where(is_left, self.left[trees, nodes], self.right[trees, nodes])
            if (following == nodes).all():
                return np.asarray(1 / (1 + np.exp(-self.value[trees, nodes].sum(1))))
            nodes = following


@cache
def _forest() -> _Forest:
    with files(__package__).joinpath(MODEL_FILE).open("rb") as file, np.load(file) as model:
        name_scores = dict(zip(model["names"].tolist(), model["scores"].tolist(), strict=True))
        trees = {name: model[name] for name in ("feature", "threshold", "left", "right", "value")}
        return _Forest(**trees, name_scores=name_scores)


def is_web_page(page: Element) -> bool:
    """Return whether the page is one of the open web, and not made by a known documentation tool."""
    if not _DRESSED(page):
        return False
    generators = (meta.get("content") or "" for meta in page.iter("meta") if meta.get("name") == "generator")
    return not any(_TOOLS.intersection(_NAME.findall(generator.lower())) for generator in generators)


def purpose_of(page: Element) -> str:
    """What the page says to be: an article, a website, a product."""
    return next(
        (meta.get("content") or "" for meta in page.iter("meta") if meta.get("property") == "og:type"), ""
    ).lower()


def chosen(probabilities: Numbers, words: Numbers) -> Flags:
    """Return which blocks to keep, so that precision and recall of their words together are expected to be best."""
    likely = probabilities**_SURE
    order = np.argsort(-likely, kind="stable")
    right, kept = np.cumsum((words * likely)[order]), np.cumsum(words[order])
    best = int(np.argmax(2 * right / np.maximum(kept + right[-1:], 1)))
    return np.asarray(likely >= likely[order[best]])


def keep_main_content(body: Element, title: str, purpose: str) -> list[LeftOutText] | None:
    """Remove from the body what is not the main content, in place, and return it.

    That is not done (``None``) if it would be nearly everything, or little: then our own rules decide.
    """
    blocks = TextBlocks(body, title, purpose)
    with_text, words = blocks.with_text, blocks.words()
    if not words.sum():
        return None
    forest = _forest()
    likely = forest.probabilities(blocks.features(forest.name_scores))
    is_kept = chosen(blocks.as_tables(likely, words), words)
    if not _LEAST_KEPT <= (words * is_kept).sum() / words.sum() <= _MOST_KEPT:
        return None
    kept = {blocks.elements[block] for block, keep in zip(with_text, is_kept, strict=True) if keep}
    kept.update(_headings_of(blocks, is_kept))
    _reduce(body, kept, set(blocks.pictures(is_kept)))
    gone = (block for block in with_text if blocks.elements[block] not in kept)
    return [LeftOutText(text=blocks.texts[block], why="model") for block in gone]


def _headings_of(blocks: TextBlocks, is_kept: Flags) -> Iterator[Element]:
    """Yield the page's title, and the headings before a block that is kept."""
    elements = [blocks.elements[block] for block in blocks.with_text]
    yield from [element for element in elements if element.tag == "h1"][:1]
    follows = False
    for element, keep in zip(reversed(elements), reversed(is_kept), strict=True):
        if element.tag in HEADINGS and follows:
            yield element
        follows = keep or (follows and element.tag in HEADINGS)


def _reduce(body: Element, kept: set[Element], pictures: set[Element]) -> None:
    """Remove all blocks but those that are kept, hold one, or have a picture beside one, and the text between them."""
    holding = {ancestor for element in kept | pictures for ancestor in element.iterancestors()} | kept | pictures
    gone: list[Element] = []
    for element in body.iter():
        if element in kept or (element not in holding and not is_block(element)):
            continue
        if element is not body and element not in holding:
            gone.append(element)
        elif element not in pictures:
            _drop_own(element, holding, gone)
    remove(body, gone)


def _drop_own(element: Element, holding: set[Element], gone: list[Element]) -> None:
    """Remove the text that stands in a block, and the inline elements in it that hold nothing that is kept."""
    element.text = None
    for child in element:
        child.tail = None
        if child not in holding and not is_block(child):
            gone.append(child)
