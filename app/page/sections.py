"""The sections that an answer cites, and the place of a section in its article. Pure.

A citation is a chunk; a section that is long, or is cited at several places, has several of them. Readers think of
sections, so they see one source for all citations of a section.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.schema.answers import ChatAnswer
from app.schema.articles import Article, ArticleChunk, Contradiction
from app.schema.conversations import StaleReference
from app.schema.passages import Citation

STATES = {
    "changed": "changed since",
    "gone": "not available to you any more",
    "contradicted": "contradicted by another article",
}
"""What became of a cited section, for people; of several parts the first of these."""
_SINCE = {
    "changed": ("{} has changed since it was given.", "{} have changed since it was given."),
    "gone": ("{} is no longer available to you.", "{} are no longer available to you."),
    "contradicted": ("Another article contradicts {}. Open the source to see what it says.",) * 2,
}
"""What became of the sources of an answer: of one, and of several."""


@dataclass(frozen=True)
class CitedSection:
    """A section of an article with its citations, at least one, by their numbers. ``name`` differs from those of the
    answer's other sources, as far as their headings and articles do."""

    citations: tuple[Citation, ...]
    name: str
    stale: tuple[StaleReference, ...] = ()

    @property
    def first(self) -> Citation:
        return self.citations[0]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(citation.number for citation in self.citations)

    @property
    def path(self) -> str:
        """The title of the article and the headings of the section; before them the file and the page, if any."""
        steps = (*filter(None, [self.file_and_page]), self.first.title, *self.first.heading_path)
        return " › ".join(dict.fromkeys(steps))

    @property
    def file_and_page(self) -> str:
        """``manual.pdf, p. 12``, ``talk.pptx, slide 3``: the file of a document, and what is printed on the page that
        bears out the answer."""
        page = cited_page(self.first)
        part = "p." if self.first.part == "page" else self.first.part
        at = f", {f'{part} {self.first.label_of(page)}'.strip()}" if page else ""
        return f"{name}{at}" if (name := self.first.file_for_readers) else ""

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """What other articles say against it."""
        return tuple(each for reference in self.stale for each in reference.contradictions)

    @property
    def is_changed(self) -> bool:
        """Whether it does not stand there any more as it was cited."""
        return any(each.state != "contradicted" for each in self.stale)

    @property
    def state(self) -> str:
        """What became of the section since the answer, for people; empty if it stands there as cited."""
        return next((words for state, words in STATES.items() if state in {each.state for each in self.stale}), "")


def cited_sections(answer: ChatAnswer, stale: Iterable[StaleReference] = ()) -> tuple[CitedSection, ...]:
    """The sections that the answer refers to, in the order of their first references."""
    return sections_of(answer.citations, stale)


def sections_of(cited: Iterable[Citation], stale: Iterable[StaleReference] = ()) -> tuple[CitedSection, ...]:
    """The sections of the citations that are used, in the order of their first references."""
    by_section: dict[tuple[str, tuple[str, ...]], list[Citation]] = {}
    for citation in cited:
        if citation.used:
            by_section.setdefault((citation.article_id, citation.heading_path), []).append(citation)
    stale_by_number = {reference.number: reference for reference in stale}
    firsts = [citations[0] for citations in by_section.values()]
    return tuple(
        CitedSection(
            tuple(citations),
            _name(citations[0], firsts),
            tuple(stale_by_number[each.number] for each in citations if each.number in stale_by_number),
        )
        for citations in by_section.values()
    )


def since_then(sections: Sequence[CitedSection]) -> tuple[str, ...]:
    """What became of the sources of an answer since it was given, in sentences; none if all stand as cited."""
    became = Counter(section.state for section in sections)
    sentences = []
    for state, (one, many) in _SINCE.items():
        if count := became[STATES[state]]:
            several = f"all {count} sources" if count == len(sections) else f"{count} of {len(sections)} sources"
            sources = "the source" if len(sections) == 1 else several
            sentence = (one if count == 1 else many).format(f"{sources} of this answer")
            sentences.append(sentence[:1].upper() + sentence[1:])
    return tuple(sentences)


def cited_page(citation: Citation) -> int | None:
    """The page on which a citation bears out the answer most, or else the passage begins."""
    return next(iter(citation.pages_for_readers), None)


def section_of(sections: Iterable[CitedSection], number: int) -> CitedSection | None:
    """The section that a reference with this number leads to."""
    return next((section for section in sections if number in section.numbers), None)


def _name(citation: Citation, others: Sequence[Citation]) -> str:
    """The last heading; with those before it, or with the article's id, if that tells it from the other sources."""
    own = citation.section if citation.section != citation.title else ""
    below = " › ".join(step for step in citation.heading_path if step != citation.title) or own
    if [(each.title, each.section) for each in others].count((citation.title, citation.section)) == 1:
        return own
    if [(each.title, each.heading_path) for each in others].count((citation.title, citation.heading_path)) == 1:
        return below
    return " · ".join(filter(None, (below, citation.article_id)))


def split_at_section(article: Article, chunk_id: str, heading_path: Sequence[str] = ()) -> tuple[str, str, str] | None:
    """The markdown of the article before, in and after the section of a chunk; ``None`` if it has no such section.

    The chunk is known by its id or, if the article was cut anew, by its headings. The section is all chunks beside it
    with the same headings.
    """
    chunks = article.chunks
    ids = [chunk.chunk_id for chunk in chunks]
    paths = [chunk.heading_path for chunk in chunks]
    if chunk_id in ids:
        first = ids.index(chunk_id)
    elif tuple(heading_path) in paths and heading_path:
        first = paths.index(tuple(heading_path))
    else:
        return None
    end = first + 1
    while first > 0 and paths[first - 1] == paths[first]:
        first -= 1
    while end < len(chunks) and paths[end] == paths[first]:
        end += 1
    lines = article.markdown.splitlines(keepends=True)
    start, stop = _line_of(lines, chunks, first), _line_of(lines, chunks, end)
    if start is None or stop is None or start >= stop:
        return None
    return "".join(lines[:start]), "".join(lines[start:stop]), "".join(lines[stop:])


def _line_of(lines: Sequence[str], chunks: Sequence[ArticleChunk], at: int) -> int | None:
    """The number of the line with which a chunk begins; ``None`` if the article does not have it."""
    if at == 0 or at == len(chunks):
        return 0 if at == 0 else len(lines)
    first = next((line.rstrip() for line in chunks[at].content.splitlines() if line.strip()), "")
    before = [line.rstrip() for chunk in chunks[:at] for line in chunk.content.splitlines()]
    places = [place for place, line in enumerate(lines) if line.rstrip() == first]
    return places[before.count(first)] if before.count(first) < len(places) else None
