"""Images and links of markdown in the text of an answer.

An image of the passages stays. Any other image is removed with its alternative text, which describes something that
the reader does not see and that nobody has checked. A link that is not allowed leaves its label, which is part of the
sentence.
"""

import re
from collections.abc import Callable
from html import unescape

from app.grounding import patterns
from app.grounding.patterns import BracketedSpan, Reading, Replacement
from app.grounding.references import read_square
from app.grounding.sources import Sources, image_markdown

_MOST_DEFINITIONS = 100
"""Definitions of links, and images that wait for theirs: more than a real answer has; bounds what is remembered."""
_ELSEWHERE = re.compile(r"//|[:\\]")
"""What a target that leaves the page contains, even if an escape hides it."""
_SPLIT_FRAGMENT = re.compile(r"#.*[\s<>()\[\]\"].*", re.DOTALL)

GroundLabel = Callable[[str, bool], str]
"""Grounds the text of a label; the flag says whether it remains the label of a link."""


class Pointers:
    """Handles what begins with a square bracket, or with an exclamation mark before one."""

    def __init__(self, sources: Sources, ground_label: GroundLabel, *, in_link: bool) -> None:
        self._sources = sources
        self._ground_label = ground_label
        self._in_link = in_link
        self._definitions: dict[str, str] = {}
        self._awaited: dict[str, str] = {}
        """Alternative texts of images whose definition has not arrived yet, by the definition's label."""

    # --- images ----------------------------------------------------------------------------------

    def image(self, text: str, at: int) -> Reading:
        """``![alt](target)``, ``![alt][label]`` and ``![label]``: an image of the passages, or nothing."""
        label = read_label(text, at + 1)
        if label is None:
            return None
        following = text[label.end : label.end + 1]
        if following == "(":
            return self._inline_image(text, label)
        if read_square(label.inner, self._sources.numbers):
            return None  # a reference after an exclamation mark
        if following == "[" and (name := read_label(text, label.end)):
            return self._defined_image(name.end, label.inner, name.inner or label.inner)
        return self._defined_image(label.end, label.inner, label.inner)

    def _inline_image(self, text: str, label: BracketedSpan) -> Reading:
        target = patterns.TARGET.match(text, label.end, label.end + patterns.LONGEST_TARGET)
        if target:
            return Replacement(target.end(), self._image_of(label.inner, _without_title(target[1])))
        loose = patterns.LOOSE_TARGET.match(text, label.end)
        assert loose is not None  # the pattern matches every text after a bracket
        return Replacement(loose.end(), self._image_of(label.inner, _without_title(loose[1])))

    def _defined_image(self, end: int, alt: str, name: str) -> Replacement:
        image = self._image_of(alt, self._definitions.get(_key(name), name)) or self._image_of(alt, alt)
        if not image and len(self._awaited) < _MOST_DEFINITIONS:
            self._awaited.setdefault(_key(name), alt)
        return Replacement(end, image)

    def _image_of(self, alt: str, target: str) -> str:
        url = self._sources.image(target)
        return image_markdown(alt, url) if url else ""

    # --- links -----------------------------------------------------------------------------------

    def link(self, text: str, at: int) -> Reading:
        """``[label](target)``, ``[label][name]``, and ``[name]`` if it is defined."""
        label = read_label(text, at)
        if label is None:
            return None
        following = text[label.end : label.end + 1]
        return self._inline_link(text, label) if following == "(" else self._defined_link(text, label, following)

    def _inline_link(self, text: str, label: BracketedSpan) -> Reading:
        target = patterns.TARGET.match(text, label.end, label.end + patterns.LONGEST_TARGET)
        if target is None:
            return None
        written = _without_title(target[1])
        image = self._sources.image(written, is_image=False)
        if re.search(r"\s", written) and not target[1].lstrip().startswith("<") and not image:
            return None  # words in round brackets after words in square brackets
        return Replacement(target.end(), self._link(label.inner, image or written))

    def _defined_link(self, text: str, label: BracketedSpan, following: str) -> Reading:
        if not self._definitions:
            return None
        end, name = label.end, label.inner
        if following == "[":
            second = read_label(text, label.end)
            if second is None:
                return None
            end, name = second.end, second.inner or label.inner
        target = self._definitions.get(_key(name))
        return Replacement(end, self._link(label.inner, target)) if target else None

    def _link(self, label: str, target: str) -> str:
        url = self._sources.image(target, is_image=False) or target
        reference = read_square(label.strip("[] "), self._sources.numbers)
        allowed = self._sources.allows(url)
        if reference and self._sources.is_quoted:
            return self._ground_label(label, False)
        if reference and (reference.explicit or not allowed):
            return self._sources.refer([number for number in reference.numbers if number in self._sources.numbers])
        if not allowed or self._in_link or patterns.HOLDS_IMAGE.search(label):
            return self._ground_label(label, False)
        inner = self._ground_label(label, True).strip()
        url = _SPLIT_FRAGMENT.sub("", url)
        destination = f"<{url}>" if re.search(r"[()]", url) else url
        return f"[{inner}]({destination})" if inner else ""

    def definition(self, text: str, at: int) -> Reading:
        """``[label]: target`` on a line of its own: removed, because it would turn plain brackets into links."""
        if not re.match(r"\[[^\[\]\n]{1,999}(?:\]:|\]?\Z)", text[at : at + 1002]):
            return None
        end = text.find("\n", at, at + patterns.LONGEST_TARGET)
        match = patterns.DEFINITION.match(text, at, end if end != -1 else at + patterns.LONGEST_TARGET)
        if not match or not self._is_definition(match["label"], match["target"]):
            return None
        label, target = _key(match["label"]), match["target"].strip("<>")
        if len(self._definitions) < _MOST_DEFINITIONS:
            self._definitions.setdefault(label, target)
        image = self._image_of(self._awaited.pop(label), target) if label in self._awaited else ""
        return Replacement(match.end(), image)

    def _is_definition(self, label: str, target: str) -> bool:
        if label.startswith("^"):  # a footnote, but a link definition to readers of markdown without footnotes
            return _ELSEWHERE.search(unescape(target)) is not None and not self._sources.allows(target)
        return patterns.LEADS_SOMEWHERE.search(target) is not None


def read_label(text: str, at: int) -> BracketedSpan | None:
    """The bracketed text at ``at``, within one line; it may hold one more pair of brackets."""
    label = patterns.LABEL.match(text, at, at + patterns.LONGEST_LABEL)
    return BracketedSpan(label.end(), label[0][1:-1]) if label else None


def _without_title(target: str) -> str:
    return patterns.TITLE.sub("", target.strip()).removeprefix("<").removesuffix(">")


def _key(label: str) -> str:
    return " ".join(label.casefold().split())
