"""The blocks of a page that hold text, and numbers about each: what it says, where it stands, what stands around it.

The numbers hold for any language and any site; ``main_content`` judges by them. Not here: judging.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element

Numbers: TypeAlias = "np.typing.NDArray[np.float32]"
Flags: TypeAlias = "np.typing.NDArray[np.bool_]"

_KINDS = "p li td h1 h2 h3 h4 h5 h6 div pre dt dd blockquote figcaption section article a th span".split()
_KIND = {tag: number for number, tag in enumerate(_KINDS, 1)}
_HEADINGS = range(_KIND["h1"], _KIND["h6"] + 1)
_AROUND = {
    **{"nav": 0, "header": 1, "footer": 2, "aside": 3, "main": 4, "article": 5, "section": 6, "form": 7, "table": 8},
    **{"list": 9, "ul": 9, "ol": 9, "figure": 10, "dl": 11},
}
_ROLES = {
    **{"navigation": 0, "banner": 1, "contentinfo": 2, "complementary": 3, "main": 4, "article": 5, "search": 7},
}
_PURPOSES = {"": 0, "article": 1, "website": 2, "product": 3}
_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}")
_SENTENCE_END = re.compile(r"[.!?:;…。！？”\"')]\s*$")
_MARKS = ".,;!?。，、"
_WORD = re.compile(r"\w+")
_LONG, _WITHOUT_LINKS = 80, 60
"""Characters outside of links that a paragraph has."""
_LEVELS = 6
"""Boxes around a block that the numbers describe; with another number the forest must be trained again."""


@lru_cache(maxsize=20_000)
def names_in(attributes: str) -> tuple[str, ...]:
    """The words that class names and ids are made of."""
    return tuple(dict.fromkeys(name.lower() for name in _NAME.findall(attributes) if 3 <= len(name) <= 18))


class _Sums(NamedTuple):
    """What the page has before a place."""

    characters: int = 0
    linked: int = 0
    texts: int = 0


class TextBlocks:
    """The blocks of a page in their order, nested as they are."""

    def __init__(self, body: Element, title: str, purpose: str) -> None:
        """``title`` is what the page calls itself, ``purpose`` what it says to be (``og:type``)."""
        self.title, self.purpose = title, purpose
        self.elements: list[Element] = []
        self.texts: list[str] = []
        self.names: list[tuple[str, ...]] = []
        self._parents: list[int] = []
        self._own: list[list[str]] = []
        self._numbers: list[list[int]] = []
        self._around: list[list[int]] = []
        self._ends: dict[int, _Sums] = {}
        self._starts: list[_Sums] = []
        self._signs: list[tuple[int, str, str | None]] = []
        self._with_image: set[int] = set()
        self.nodes = self.images = 0
        self._read(body)
        self.texts = [" ".join(parts) for parts in self._own]

    def _read(self, body: Element) -> None:
        stack: list[int] = []
        characters = linked = texts = links = 0
        for event, element in etree.iterwalk(body, events=("start", "end")):
            is_link = element.tag == "a" and bool(element.get("href"))
            if event == "start":
                self.nodes += 1
                if element.tag in BLOCKS or not stack:
                    stack.append(self._add(element, stack, _Sums(characters, linked, texts)))
                if element.tag == "img":
                    self.images += 1
                    self._with_image.add(stack[-1])
                links += is_link
                self._numbers[stack[-1]][2] += is_link
                text = element.text
            else:
                links -= is_link
                if self.elements[stack[-1]] is element:
                    self._ends[stack.pop()] = _Sums(characters, linked, texts)
                text = element.tail
            if stack and text and (text := text.strip()):
                texts += not self._own[stack[-1]]
                self._own[stack[-1]].append(text)
                numbers = self._numbers[stack[-1]]
                numbers[0] += len(text)
                characters += len(text)
                if links:
                    numbers[1] += len(text)
                    linked += len(text)

    def _add(self, element: Element, stack: list[int], start: _Sums) -> int:
        parent = stack[-1] if stack else 0
        around = list(self._around[parent]) if stack else [0] * 12
        for place in {_AROUND.get(str(element.tag)), _ROLES.get(element.get("role") or "")} - {None}:
            around[place or 0] += 1
        attributes = f"{element.get('class') or ''} {element.get('id') or ''}".strip()
        self.elements.append(element)
        self.names.append(names_in(attributes[:300]) if attributes else ())
        self._parents.append(parent)
        self._own.append([])
        self._numbers.append([0, 0, 0, _KIND.get(str(element.tag), 0), len(stack)])
        self._around.append(around)
        self._starts.append(start)
        self._signs.append((parent, str(element.tag), element.get("class")))
        return len(self.elements) - 1

    @property
    def with_text(self) -> "np.typing.NDArray[np.intp]":
        """Which blocks hold text of their own."""
        return np.flatnonzero([bool(parts) for parts in self._own])

    def words(self) -> Numbers:
        """How many words each block with text has."""
        return np.array([len(_WORD.findall(self.texts[block])) for block in self.with_text], np.float32)

    def pictures(self, is_kept: Flags) -> Iterator[Element]:
        """Yield the blocks without text that hold an image beside a block with text that is kept.

        Beside it are the texts right before and after in the innermost block around the image that holds any text.
        """
        for block in self._with_image:
            if self._own[block]:
                continue
            around = block
            while around and self._starts[around].texts == self._ends[around].texts:
                around = self._parents[around]
            place = self._starts[block].texts
            first, last = self._starts[around].texts, self._ends[around].texts
            if any(is_kept[max(place - 1, first) : min(place + 1, last)]):
                yield self.elements[block]

    def as_tables(self, likely: Numbers, words: Numbers) -> Numbers:
        """Return the probabilities with one for all cells of a table, so that it stays whole or goes.

        A table with another one or a heading in it is there for the layout.
        """
        tables: dict[int, int] = {}
        for block, (element, parent) in enumerate(zip(self.elements, self._parents, strict=True)):
            around = tables.get(parent, 0)
            if element.tag == "table":
                tables[block] = block
            elif around:
                tables[block] = around
            if around and element.tag in ("table", *HEADINGS):
                tables[around] = 0
        whole = np.array([tables.get(tables.get(block, 0), 0) for block in self.with_text])
        likely = likely.copy()
        for table in set(whole.tolist()) - {0}:
            cells = whole == table
            likely[cells] = np.average(likely[cells], weights=words[cells] + 0.01)
        return likely

    def shares_of(self, labels: Numbers) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield the names of each block, and how much of the text inside of it is labelled."""
        sizes = np.array([min(sum(map(len, self._own[block])), 1000) for block in self.with_text], np.float32)
        labelled, all_of_it = (np.concatenate([[0], np.cumsum(each)]) for each in (sizes * labels, sizes))
        for block, names in enumerate(self.names):
            first, last = self._starts[block].texts, self._ends[block].texts
            if names and last > first:
                yield names, float((labelled[last] - labelled[first]) / (all_of_it[last] - all_of_it[first]))

    def features(self, name_scores: Mapping[str, float]) -> Numbers:
        """The numbers of each block with text; ``name_scores`` says how often what is named so is main content."""
        blocks = self.with_text
        own, linked, links, kind, depth = np.array(self._numbers, np.float32).T
        parents, starts = np.array(self._parents), np.array(self._starts, np.float32)
        ends = np.array([self._ends[block] for block in range(len(self.elements))], np.float32)
        around, scores = np.array(self._around, np.float32), self._scores(name_scores)
        counts = Counter(self._signs)
        alike = np.array([counts[sign] for sign in self._signs], np.float32)
        total, count, position = max(ends[0, 0], 1.0), len(blocks), np.arange(len(blocks))
        columns: list[Numbers] = []

        def add(*values: object) -> None:
            columns.extend(np.broadcast_to(np.asarray(value, np.float32), (count,)) for value in values)

        texts = [self.texts[block] for block in blocks]
        own_words = [_WORD.findall(text.lower()) for text in texts]
        words = np.array([len(each) for each in own_words], np.float32)
        size, share, kinds = own[blocks], linked[blocks] / own[blocks], kind[blocks]
        closed = np.array([bool(_SENTENCE_END.search(text)) for text in texts])
        marks = np.array([sum(map(text.count, _MARKS)) for text in texts], np.float32)
        digits = np.array([sum(map(str.isdigit, text)) for text in texts], np.float32)
        capitals = np.array([sum(map(str.isupper, text)) for text in texts], np.float32)
        title = set(_WORD.findall(self.title.lower()))
        common = np.array([len(title.intersection(each)) for each in own_words], np.float32)
        each_word = np.maximum(words, 1)
        add(words, size, size / each_word, share, links[blocks], closed, marks / each_word, marks)
        add(digits / size, capitals / size, common / each_word, common / max(len(title), 1), kinds, depth[blocks])
        add(*around[blocks].T, *scores[blocks].T)
        add(starts[blocks, 0] / total, position / count, position, count - position)
        titles = np.flatnonzero((kind == _KIND["h1"]) & (own > 0))
        add(position - starts[titles[0], 2] if len(titles) else -999, len(titles))
        is_heading = (kinds >= _HEADINGS[0]) & (kinds <= _HEADINGS[-1])
        add(position - np.maximum.accumulate(np.where(is_heading, position, -1)))

        inside = ends - starts
        inner, inner_count = np.maximum(inside[:, 0], 1), np.maximum(inside[:, 2], 1)
        first, last = starts[:, 2].astype(int), ends[:, 2].astype(int)

        def within(values: Numbers) -> Numbers:
            sums = np.concatenate([[0], np.cumsum(values)])
            return np.asarray(sums[last] - sums[first])

        long = within(np.where(size - linked[blocks] >= _LONG, size, 0))
        sentences = within(closed.astype(np.float32))
        box = blocks
        for level in range(_LEVELS):
            box = parents[box] if level else box
            add(inside[box, 0] / total, inside[box, 1] / inner[box], np.log1p(inside[box, 0]), inside[box, 2])
            add(
                inside[box, 0] / inner_count[box], alike[box], long[box] / inner[box], sentences[box] / inner_count[box]
            )
            if level:
                add(kind[box], scores[box, 0] + scores[box, 1])
        repeated = alike.copy()
        for block, parent in enumerate(self._parents):
            repeated[block] = max(repeated[block], repeated[parent])
        add(repeated[blocks])
        for step in (-3, -2, -1, 1, 2, 3):
            add(*(_neighbours(values, step) for values in (size, share, kinds, closed)))
        for step in (-1, 1):
            add(_neighbours(parents[blocks], step) == parents[blocks], _neighbours(scores[blocks, 4], step))
        for reach in (5, 15):
            add(_around(np.where(size - linked[blocks] >= _WITHOUT_LINKS, size, 0), reach))
            add(_around(linked[blocks], reach) / np.maximum(_around(size, reach), 1))
        articles = kind == _KIND["article"]
        add(total, ends[0, 1] / total, count, size.mean(), long[0] / inner[0], (around[:, 4] > 0).any(), articles.sum())
        add((kinds == _KIND["p"]).mean(), (kinds == _KIND["li"]).mean(), closed.mean(), len(own))
        add(_PURPOSES.get(self.purpose, 4), around[:, 7].max(), inside[articles, 0].sum() / total)
        add(self.images, self.nodes / count)
        return np.stack(columns, 1)

    def _scores(self, name_scores: Mapping[str, float]) -> Numbers:
        """For each block the most and the least that its names score, and those of the blocks around it."""
        scores = np.zeros((len(self.elements), 6), np.float32)
        for block, (names, parent) in enumerate(zip(self.names, self._parents, strict=True)):
            own = [name_scores[name] for name in names if name in name_scores] or [0.0]
            most, least = max(own), min(own)
            above = scores[parent]
            scores[block] = (most, least, max(above[2], most), min(above[3], least), above[4] + most + least, 0)
            if block:
                scores[block, 5] = above[0] + above[1]
        return scores


def _neighbours(values: Numbers, step: int) -> Numbers:
    """The values of the blocks so many further; -1 where there is none."""
    moved = np.full(len(values), -1, np.float32)
    if abs(step) < len(values):
        if step > 0:
            moved[:-step] = values[step:]
        else:
            moved[-step:] = values[:step]
    return moved


def _around(values: Numbers, reach: int) -> Numbers:
    """The sums over the blocks up to so many before and after."""
    sums = np.convolve(values, np.ones(2 * reach + 1, np.float32), "full")
    return np.asarray(sums[reach : reach + len(values)], np.float32)
