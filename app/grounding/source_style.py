"""Sources in words: ``[Ref #3]`` as ``(Source: manual.pdf, S. 12)``, and back.

An answer is checked, stored and shown with references. Only at the edge of the service are they written as sources, so
every source that a reader sees was a reference to a passage. A source that a model writes itself is read back into
a reference by :mod:`app.grounding.prose`, or removed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.grounding.references import find_references
from app.grounding.support import mark_used
from app.schema.passages import Citation

Placed = tuple[int, int, int]
"""Start and end of a reference in the text, and the number of its citation."""

_LONGEST = 400
"""Characters between the brackets of a source: a title, an address and pages."""
_LONGEST_TITLE = 150
"""Characters of a web page's title; strangers choose it, and it must fit into a line."""
_BEGINNING = re.compile(r"\([ \t]{0,8}(?:sources?|quellen?)[ \t]{0,8}:[ \t]{0,8}", re.IGNORECASE)
_INSIDE = re.compile(rf"(?:[^()\n]|\([^()\n]{{0,100}}\)){{0,{_LONGEST}}}+")
_PAGES = re.compile(
    r",?\s{0,8}\b(?:S|pp?|pages?|Seiten?)\b\.?\s{0,8}(?P<pages>[\w.]{1,40}(?:\s{0,4}[-–,]\s{0,4}[\w.]{1,40}){0,40})\s*\Z",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r",?\s{0,8}\b(?:section|Abschnitt)\b\s{0,8}[\"“„']?(?P<section>[^\"”“\n]{1,300})[\"”“']?\s*\Z", re.I
)
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\b")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL = re.compile(r"[\\`*<>\[\]]")
_RANGE = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")
_LONGEST_RANGE = 50
"""Pages of a range that are read back; no statement stands on more."""
_OPEN = re.compile(r"\[(?:R(?:e(?:f(?: (?:#\d{0,4})?)?)?)?)?\Z")
_WRITTEN = re.compile(r"[ \t]{0,8}\(Source: (?:[^()\n]|\([^()\n]{0,100}\)){1,400}+\)")


# --- writing -------------------------------------------------------------------------------------


def write_source(citation: Citation, pages: Sequence[int] = ()) -> str:
    """A source in words: file and pages, or file and section if it has no pages; of an article its title, of a page of
    the web its title and address.

    Pages are those of the file, as viewers and links count them, not what is printed on them. Of a sheet, whose pages
    only we count, it is the section.
    """
    if citation.kind == "article":
        return f"(Source: {_escaped(citation.title)})"
    if citation.is_of_web:
        return f"(Source: {_escaped(citation.title)[:_LONGEST_TITLE]}, {_address(citation)})"
    name = _escaped(citation.file_for_readers or citation.title)
    if (shown := pages or citation.pages) and citation.part:
        return f"(Source: {name}, S. {_ranges(shown)})"
    return f'(Source: {name}, section "{_escaped(citation.section)}")' if citation.section else f"(Source: {name})"


def _ranges(pages: Iterable[int]) -> str:
    """Return ``12-13, 15`` for these pages."""
    runs = groupby(enumerate(sorted(set(pages))), lambda each: each[1] - each[0])
    spans = [[page for _, page in run] for _, run in runs]
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)


def _escaped(name: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", " ".join(name.split()))


class SourceStyle:
    """Writes the references of an answer as sources, while it streams.

    A source names the pages that bear out the sentence before it, or else those of the passage.
    """

    def __init__(self, citations: Callable[[], Sequence[Citation]]) -> None:
        """``citations`` returns those that the answer could refer to so far, under the numbers that it uses."""
        self._citations = citations
        self._text = ""
        self._done = 0
        self._claim = self._after = 0
        self._last = ""
        self.written = ""
        """The text with its sources, as far as it is final."""
        self.placed: list[Placed] = []
        """Where the sources are in it."""

    def feed(self, piece: str) -> str:
        """Take the next part of the answer, and return the text that is now final."""
        self._text += piece
        held = _OPEN.search(self._text, self._done)
        return self._write(held.start() if held else len(self._text))

    def finish(self) -> str:
        """End the answer, and return the rest of its text."""
        return self._write(len(self._text))

    def _write(self, until: int) -> str:
        parts: list[str] = []
        for start, end, number in self._references(until):
            if self._done <= start and end <= until:
                self._put(parts, self._text[self._done : start])
                self._refer(parts, start, end, number)
                self._done = end
        self._put(parts, self._text[self._done : until])
        self._done = until
        return "".join(parts)

    def _references(self, until: int) -> Iterator[Placed]:
        """The references of the text, at least those that are not written yet."""
        if "[Ref #" not in self._text[self._done : until]:
            return
        # only a fence makes code of later lines: without one, what was written is not read again
        has_fence = "```" in self._text or "~~~" in self._text
        begin = 0 if has_fence else self._text.rfind("\n", 0, self._done) + 1
        for start, end, number in find_references(self._text[begin:]):
            yield begin + start, begin + end, number

    def _put(self, parts: list[str], text: str) -> None:
        if text:
            parts.append(text)
            self.written += text
            self._last = text

    def _refer(self, parts: list[str], start: int, end: int, number: int) -> None:
        citation = next((each for each in self._citations() if each.number == number), None)
        if citation is None:
            return
        if self._text[self._after : start].strip(" \t\n,;"):
            self._claim = self._after  # otherwise the same sentence has several references
        self._after = end
        [marked] = mark_used(self._text[self._claim : end], [citation])
        source = write_source(citation, tuple(dict.fromkeys(marked.quote_pages)))
        if self._last == source:
            return  # two passages of one page
        gap = "" if not self._last or self._last[-1].isspace() else " "
        self._put(parts, gap)
        self._put(parts, source)
        self.placed.append((len(self.written) - len(source), len(self.written), number))


def in_source_style(text: str, citations: Sequence[Citation]) -> str:
    """A whole answer with its references written as sources."""
    style = SourceStyle(lambda: citations)
    return style.feed(text) + style.finish()


def without_sources(text: str) -> str:
    """A text without the sources that :func:`write_source` made."""
    return _WRITTEN.sub("", text)


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedSource:
    """What a model named as a source: a file or a title, with pages (numbers, or what is printed) or a section."""

    name: str
    pages: tuple[str, ...] = ()
    section: str = ""

    @property
    def is_file(self) -> bool:
        """Whether this can only be meant as a source of an answer, unlike a source that an article names."""
        return bool(self.pages or self.section or _FILE.search(self.name))


def end_of_source(text: str, at: int) -> int:
    """Where a source ends that begins at ``at``: behind its bracket, or where the line ends; ``at`` if none begins."""
    if not _BEGINNING.match(text, at):
        return at
    inside = _INSIDE.match(text, at + 1)
    end = inside.end() if inside else at + 1
    return end + (text[end : end + 1] == ")")


def read_sources(written: str) -> tuple[NamedSource, ...]:
    """The sources that a text in brackets names, such as ``(Source: manual.pdf, S. 12-13; notes.docx)``."""
    inner = _BEGINNING.sub("", written, count=1).removesuffix(")")
    return tuple(_read(each) for each in _ESCAPE.sub(r"\1", inner).split(";") if each.strip())


def _read(text: str) -> NamedSource:
    if pages := _PAGES.search(text):
        return NamedSource(_name(text[: pages.start()]), tuple(_numbers(pages["pages"])))
    if section := _SECTION.search(text):
        return NamedSource(_name(text[: section.start()]), section=section["section"].strip())
    return NamedSource(_name(text))


def _name(text: str) -> str:
    return " ".join(text.split()).strip(" ,*_`\"“”'")


def _numbers(text: str) -> Iterator[str]:
    """Yield each page of ``12-13, 15`` or ``iv``."""
    for part in text.split(","):
        if span := _RANGE.fullmatch(part.strip()):
            first, last = int(span[1]), int(span[2])
            yield from map(str, range(first, min(last, first + _LONGEST_RANGE) + 1))
        elif part.strip():
            yield part.strip().rstrip(".")


def numbers_of(sources: Iterable[NamedSource], citations: Sequence[Citation]) -> tuple[int, ...]:
    """The numbers of the citations that these sources mean: of each page the best passage; none if none matches."""
    return tuple(dict.fromkeys(number for source in sources for number in _meant(source, citations)))


def _meant(source: NamedSource, citations: Sequence[Citation]) -> Iterator[int]:
    name = _key(source.name)
    named = [each for each in citations if name in map(_key, _names(each))]
    if source.section:
        key = _key(source.section)
        named = [each for each in named if key in map(_key, (each.section, *each.heading_path))]
    if not source.pages:
        yield from (each.number for each in named[:1])
    for page in source.pages:
        yield from (each.number for each in [each for each in named if _is_on(each, page)][:1])


def _names(citation: Citation) -> tuple[str, ...]:
    """Return what a source may call this passage's article, document or page."""
    if citation.is_of_web:
        return citation.title, _address(citation), f"{citation.title}, {_address(citation)}"
    return (citation.file_for_readers or citation.title,)


def _address(citation: Citation) -> str:
    return (citation.source_url or "").replace("(", "%28").replace(")", "%29")


def _is_on(citation: Citation, page: str) -> bool:
    if page.isdecimal():
        return int(page) in citation.pages
    return _key(page) in map(_key, citation.page_labels)


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
