"""Check the pages of a document: each is there once and in order, and holds what another reading of the file found.

Only documents with pages are checked. Not here: reading the file (``sources``).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

from kb_pipeline.records import CheckResult, ConvertedArticle, OutlineEntry, PageInfo
from kb_pipeline.steps.checks.contents import contents_of
from kb_pipeline.steps.checks.specs import named, number, outcome
from kb_pipeline.steps.pages import split_marks, without_marks

_LEAST_OF_DOCUMENT = 0.97
"""Share of the words that another reading of the file found; the two differ in hyphens and ligatures."""
_FEW_WORDS = 10
"""So many words of a document may be missing, whatever its length."""
_LEAST_OF_PAGE = 0.85
"""Less than of the document: on one page a diagram or a formula is read in two ways."""
_SHORT_PAGE = 50
"""Pages of at most so many words are not judged alone."""
_SHOWN_WORDS = 5
"""Words that a message quotes, enough to find the place."""

# Scripts without spaces between words are compared character by character.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_BROKEN_WORD = re.compile(r"(\w+)(?:[-\u2010]\s*\n\s*|[\u00ad\x02\ufffe]\s*)(\w+)")
_RAISED = re.compile(r"</?su[bp]>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_NUMBERING = re.compile(
    r"^(?:chapter|section|appendix|part|kapitel|abschnitt|anhang|teil)?\s*[\dA-Za-z]?[\d.]*[.:)\s]\s*", re.I
)


@dataclass(frozen=True)
class Control:
    """What the source of a document hands over for its checks; see ``SourceDocument``."""

    texts: Mapping[int, str] = field(default_factory=dict)
    left_out: Mapping[int, str] = field(default_factory=dict)
    outline: Sequence[OutlineEntry] = ()
    beside_text: Mapping[int, str] = field(default_factory=dict)


def pages_ascend(article: ConvertedArticle) -> CheckResult:
    """Check that each page of the document begins once in the markdown, in order."""
    numbers = [page_break.page for page_break in split_marks(article.markdown).breaks]
    times = Counter(numbers)
    expected = [page.number for page in article.pages]
    problems = [
        *named("page", "missing", [page for page in expected if page not in times]),
        *named("page", "more than once", [page for page in times if times[page] > 1]),
        *named("page", "that the document does not have", sorted(times.keys() - set(expected))),
        *named("page", "before an earlier one", [f"{a} before {b}" for a, b in pairwise(numbers) if a > b]),
    ]
    return outcome(
        "pages_ascend",
        problems,
        "The source of this format marks pages incorrectly: report it.",
        {"pages": len(expected)},
    )


def pages_are_covered(article: ConvertedArticle, control: Control) -> CheckResult:
    """Check that the words of each page are in its markdown, as far as another reading of the file found words there.

    What the source left out on purpose does not count as lost if it stands elsewhere in the document, as running heads
    and contents do; nor does what is beside the text: unseen, on a picture, or no content by the file's own word. Pages
    without a text of their own (scans) are not judged. Words may be on a neighbouring page: a word, footnote or table
    that goes on over a page stands on one of them.
    """
    coverage = _coverage(article, control)
    total, lost = coverage.lost()
    poor = coverage.below(_LEAST_OF_PAGE)
    problems = [f"{lost:,} of {number(total, 'word')} of the document lost"] if coverage.is_incomplete() else []
    problems += named("page", "incomplete", [_describe(page, coverage.expected, coverage.missing) for page in poor])
    return outcome(
        "pages_are_covered",
        problems,
        "Compare these pages with the file: if their text cannot be copied from a viewer either, print the document to "
        "a new PDF, or stage its original format; then materialize converted_markdown again.",
        {
            "pages": len(coverage.judged),
            "words": total,
            "words_left_out": coverage.left_out.total(),
            "words_beside_text": coverage.beside_text.total(),
            "words_lost": lost,
            "incomplete_pages": len(poor),
        },
    )


@dataclass(frozen=True)
class _Coverage:
    """The words of the judged pages: what should be in the markdown, what is, and what is missing, by page."""

    judged: Sequence[PageInfo]
    expected: Mapping[int, Counter[str]]
    written: Mapping[int, Counter[str]]
    missing: Mapping[int, Counter[str]]
    left_out: Counter[str]
    beside_text: Counter[str]

    def lost(self) -> tuple[int, int]:
        """How many words should be in the document, and how many of them are nowhere in it."""
        everything = _sum(self.expected.values())
        return everything.total(), _lost(everything, _sum(self.written.values())).total()

    def is_incomplete(self) -> bool:
        """Whether the document as a whole lacks too many words."""
        total, lost = self.lost()
        return lost > max(_FEW_WORDS, (1 - _LEAST_OF_DOCUMENT) * total)

    def below(self, least: float) -> list[PageInfo]:
        """The pages, but for short ones, of which less than this share is there, the worst first."""
        lacking = {page.number: self.missing[page.number].total() for page in self.judged}
        words = {page.number: self.expected[page.number].total() for page in self.judged}
        pages = [
            page
            for page in self.judged
            if words[page.number] > _SHORT_PAGE and lacking[page.number] > (1 - least) * words[page.number]
        ]
        return sorted(pages, key=lambda page: -lacking[page.number])


def _coverage(article: ConvertedArticle, control: Control) -> _Coverage:
    written = _written_words(article.markdown)
    known = set().union(*written.values()) if written else set()
    judged = [page for page in article.pages if page.read_by in ("tags", "text") and page.number in control.texts]

    def words_of(texts: Mapping[int, str]) -> dict[int, Counter[str]]:
        return {page.number: Counter(_control_words(texts.get(page.number, ""), known)) for page in judged}

    texts, on_purpose, unseen = words_of(control.texts), words_of(control.left_out), words_of(control.beside_text)
    pages_with = Counter(word for words in texts.values() for word in words)
    beside_text = {page: words & unseen[page] for page, words in texts.items()}
    left_out = {}
    for page, words in texts.items():
        claimed = (words - beside_text[page]) & (on_purpose[page] - beside_text[page])
        elsewhere = {word: count for word, count in claimed.items() if word in known or pages_with[word] > 1}
        left_out[page] = Counter(elsewhere)
    expected = {page: words - beside_text[page] - left_out[page] for page, words in texts.items()}
    surplus = {page: words - expected.get(page, Counter()) for page, words in written.items()}
    missing = {}
    for page, words in expected.items():
        near = [written.get(page), surplus.get(page - 1), surplus.get(page + 1)]
        missing[page] = _lost(words, _sum(filter(None, near)))
    return _Coverage(judged, expected, written, missing, _sum(left_out.values()), _sum(beside_text.values()))


def incomplete_pages(article: ConvertedArticle, control: Control) -> list[int]:
    """The pages for whose sake ``pages_are_covered`` fails; none if they are the greater part of the document."""
    coverage = _coverage(article, control)
    pages = coverage.below(_LEAST_OF_DOCUMENT if coverage.is_incomplete() else _LEAST_OF_PAGE)
    return sorted(page.number for page in pages) if len(pages) <= len(article.pages) / 2 else []


def pages_are_read(article: ConvertedArticle) -> CheckResult:
    """Check that no page was published although words of it are missing; see ``steps.unread_pages``."""
    unread = [page.number for page in article.pages if page.read_by == "unread"]
    return outcome(
        "pages_are_read",
        list(named("page", "not read completely", unread)),
        "The article says so in their place. If their text can be copied from a viewer, report it; else print the "
        "document to a new PDF, or stage its original format.",
        {"pages": len(article.pages), "unread_pages": len(unread)},
    )


def headings_follow_the_outline(article: ConvertedArticle, outline: Sequence[OutlineEntry]) -> CheckResult:
    """Check that every entry of the document's own contents is a heading of the markdown."""
    headings = contents_of(without_marks(article.markdown)).headings
    titles = {_key(title) for heading in headings for title in (heading, _NUMBERING.sub("", heading))}
    lost = [
        entry
        for entry in outline
        if _key(entry.title) and not {_key(entry.title), _key(_NUMBERING.sub("", entry.title))} & titles
    ]
    return outcome(
        "headings_follow_the_outline",
        list(named("entry", "of the outline without a heading", [_entry(entry) for entry in lost])),
        "A question for such a section finds the text under another heading.",
        {"entries": len(outline), "without_heading": len(lost)},
    )


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    total = Counter[str]()
    for counter in counters:
        total.update(counter)  # adding them by + takes quadratic time
    return total


def _written_words(markdown: str) -> dict[int, Counter[str]]:
    """Return the words of each page of the markdown, as readers see them."""
    text, breaks = split_marks(markdown)
    written: dict[int, Counter[str]] = {}
    for page_break, following in zip_longest(breaks, breaks[1:]):
        shown = text[page_break.offset : following.offset if following else None]
        words = _words(_ESCAPE.sub(r"\1", _RAISED.sub("", shown)))
        written.setdefault(page_break.page, Counter()).update(words)
    return written


def _lost(expected: Counter[str], written: Counter[str]) -> Counter[str]:
    """The expected words that are not written, nor in other pieces: the two readings may divide words differently."""
    missing, surplus = expected - written, written - expected
    if not missing:
        return missing
    for whole, parts in ((missing, surplus), (surplus, missing)):
        for word in sorted(whole, key=len, reverse=True):
            for _ in range(whole[word]):
                if not (pieces := _pieces(word, parts)):
                    break
                whole[word] -= 1
                parts.subtract(pieces)
    return +missing


def _pieces(word: str, words: Counter[str]) -> list[str]:
    """Some of the ``words`` that make the word together; none if they do not."""
    taken: list[str] = []
    dead: set[int] = set()
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end]
            if end not in dead and words[piece] > taken.count(piece):
                taken.append(piece)
                start = end
                break
        else:
            if not taken:
                return []
            dead.add(start)
            start -= len(taken.pop())
    return taken


def _describe(page: PageInfo, expected: Mapping[int, Counter[str]], missing: Mapping[int, Counter[str]]) -> str:
    label = f" ({page.label})" if page.label else ""
    words = " ".join(list(missing[page.number])[:_SHOWN_WORDS])
    lost, total = missing[page.number].total(), expected[page.number].total()
    return f"{page.number}{label}: {lost:,} of {total:,} words lost: {words}"


def _entry(entry: OutlineEntry) -> str:
    return f"{entry.title} (page {entry.page})" if entry.page else entry.title


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _control_words(text: str, known: set[str]) -> Iterator[str]:
    """Return the words of a control text; one that is broken at the end of a line is whole if the markdown has it."""

    def joined(match: re.Match[str]) -> str:
        whole = match[1] + match[2]
        return whole if known.issuperset(_words(whole)) else f"{match[1]} {match[2]}"

    yield from _words(_BROKEN_WORD.sub(joined, text))


def _key(title: str) -> str:
    return "".join(_words(title))
