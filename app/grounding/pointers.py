"""Images and links of markdown in the text of an answer: each becomes one of ours, or its label, or nothing.

An image that is none of the passages' goes with its alternative text: that describes what the reader does not see,
and nobody vouches for it. A link that may not be followed leaves its label, which is a part of the sentence.
"""

import re
from collections.abc import Callable
from html import unescape

from app.grounding import patterns
from app.grounding.found import WAIT, Found, Reading, Span, Wait
from app.grounding.image_urls import image_markdown
from app.grounding.references import read_square, write_references
from app.grounding.sources import Sources

_MOST_DEFINITIONS = 100
_ELSEWHERE = re.compile(r"//|[:\\]")
"""What leads off the page, also where an escape hides it."""
_SPLIT_FRAGMENT = re.compile(r"#.*[\s<>()\[\]\"].*", re.DOTALL)

GroundLabel = Callable[[str, bool], str]
"""Puts the text of a label right; whether it stays the label of a link."""


class Pointers:
    """Reads what begins with a square bracket, or with an exclamation mark before it."""

    def __init__(self, sources: Sources, ground_label: GroundLabel, *, in_link: bool) -> None:
        self._sources = sources
        self._ground_label = ground_label
        self._in_link = in_link
        self._definitions: dict[str, str] = {}
        self._awaited: dict[str, str] = {}
        """Alternative texts of images whose definition was not there yet, by its label."""

    # --- images ----------------------------------------------------------------------------------

    def image(self, text: str, at: int, *, final: bool) -> Reading:
        """``![alt](target)``, ``![alt][label]``, ``![label]``; all of them are images of the passages or go."""
        if at + 1 == len(text):
            return None if final else WAIT
        label = read_label(text, at + 1, final=final)
        if label is None or label is WAIT:
            return label
        following = text[label.end : label.end + 1]
        if not following and not final:
            return WAIT
        if following == "(":
            return self._inline_image(text, label, final=final)
        if read_square(label.inner, self._sources.numbers):
            return None  # a reference after an exclamation
        if following == "[":
            name = read_label(text, label.end, final=final)
            if name is WAIT:
                return WAIT
            if name:
                return self._defined_image(name.end, label.inner, name.inner or label.inner)
        return self._defined_image(label.end, label.inner, label.inner)

    def _inline_image(self, text: str, label: Span, *, final: bool) -> Reading:
        limit = label.end + patterns.LONGEST_TARGET
        target = patterns.TARGET.match(text, label.end, limit)
        if target:
            return Found(target.end(), self._shown(label.inner, _without_title(target[1])))
        if _may_close(text, label.end, final=final):
            return WAIT
        loose = patterns.LOOSE_TARGET.match(text, label.end, limit)
        if loose is None or loose.end() == limit:
            return Found(limit, goes_on=True)
        return Found(loose.end(), self._shown(label.inner, _without_title(loose[1])))

    def _defined_image(self, end: int, alt: str, name: str) -> Found:
        shown = self._shown(alt, self._definitions.get(_key(name), name)) or self._shown(alt, alt)
        if not shown and len(self._awaited) < _MOST_DEFINITIONS:
            self._awaited.setdefault(_key(name), alt)
        return Found(end, shown)

    def _shown(self, alt: str, target: str) -> str:
        url = self._sources.images.resolve(target)
        return image_markdown(alt, url) if url else ""

    # --- links -----------------------------------------------------------------------------------

    def link(self, text: str, at: int, *, final: bool) -> Reading:
        """``[label](target)``, ``[label][name]``, ``[name]`` of a definition."""
        label = read_label(text, at, final=final)
        if label is None or label is WAIT:
            return label
        following = text[label.end : label.end + 1]
        if following == "(":
            return self._inline_link(text, label, final=final)
        if not following and not final:
            return WAIT
        return self._defined_link(text, label, following, final=final)

    def _inline_link(self, text: str, label: Span, *, final: bool) -> Reading:
        target = patterns.TARGET.match(text, label.end, label.end + patterns.LONGEST_TARGET)
        if target is None:
            return WAIT if _may_close(text, label.end, final=final) else None
        written = _without_title(target[1])
        image = self._sources.images.resolve(written, is_image=False)
        if re.search(r"\s", written) and not target[1].lstrip().startswith("<") and not image:
            return None  # words in brackets behind words in brackets
        return Found(target.end(), self._link(label.inner, image or written))

    def _defined_link(self, text: str, label: Span, following: str, *, final: bool) -> Reading:
        if not self._definitions:
            return None
        if following == "[":
            name = read_label(text, label.end, final=final)
            if name is None or name is WAIT:
                return name
            target = self._definitions.get(_key(name.inner or label.inner))
            return Found(name.end, self._link(label.inner, target)) if target else None
        target = self._definitions.get(_key(label.inner))
        return Found(label.end, self._link(label.inner, target)) if target else None

    def _link(self, label: str, target: str) -> str:
        url = self._sources.images.resolve(target, is_image=False) or target
        reference = read_square(label.strip("[] "), self._sources.numbers)
        allowed = self._sources.allows(url)
        if reference and (reference.explicit or not allowed):
            return write_references(number for number in reference.numbers if number in self._sources.numbers)
        if not allowed or self._in_link or patterns.HOLDS_IMAGE.search(label):
            return self._ground_label(label, False)
        inner = self._ground_label(label, True).strip()
        return f"[{inner}]({_destination(url)})" if inner else ""

    def definition(self, text: str, at: int, *, final: bool) -> Reading:
        """``[label]: target`` on a line of its own. None stays: it would make links of what is none."""
        if not re.match(r"\[[^\[\]\n]{1,999}(?:\]:|\]?\Z)", text[at : at + 1002]):
            return None
        end = text.find("\n", at, at + patterns.LONGEST_TARGET)
        if end == -1 and not final and len(text) < at + patterns.LONGEST_TARGET:
            return WAIT
        found = patterns.DEFINITION.match(text, at, end if end != -1 else at + patterns.LONGEST_TARGET)
        if not found or not self._is_definition(found["label"], found["target"]):
            return None
        label, target = _key(found["label"]), found["target"].strip("<>")
        if len(self._definitions) < _MOST_DEFINITIONS:
            self._definitions.setdefault(label, target)
        return Found(found.end(), self._shown(self._awaited.pop(label), target) if label in self._awaited else "")

    def _is_definition(self, label: str, target: str) -> bool:
        if label.startswith("^"):  # a footnote, except to readers that know none
            return _ELSEWHERE.search(unescape(target)) is not None and not self._sources.allows(target)
        return patterns.LEADS_SOMEWHERE.search(target) is not None


def read_label(text: str, at: int, *, final: bool) -> Span | Wait | None:
    """The text between the bracket at ``at`` and the one that closes it, in one line; one pair may be inside."""
    limit = at + patterns.LONGEST_LABEL
    found = patterns.LABEL.match(text, at, limit)
    if found:
        return Span(found.end(), found[0][1:-1])
    if not final and len(text) < limit and patterns.OPEN_LABEL.match(text, at):
        return WAIT
    return None


def _may_close(text: str, at: int, *, final: bool) -> bool:
    """Whether the bracket that opens at ``at`` may be closed by text that is not there yet."""
    return not final and len(text) < at + patterns.LONGEST_TARGET and text.find("\n", at) == -1


def _without_title(target: str) -> str:
    return patterns.TITLE.sub("", target.strip()).removeprefix("<").removesuffix(">")


def _destination(url: str) -> str:
    url = _SPLIT_FRAGMENT.sub("", url)
    return f"<{url}>" if re.search(r"[()]", url) else url


def _key(label: str) -> str:
    return " ".join(label.casefold().split())
