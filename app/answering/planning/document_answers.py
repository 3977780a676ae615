"""Words what is said about whole documents: a table of them, their facts, their summaries. Pure.

Each statement ends in a reference to a passage of its document, where a reader can check it. ``say`` has the messages
in the language of the question.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.answering.extractive.quoting import inline, plain
from app.answering.planning.wanted import Filter, Wanted
from app.grounding.citations import CitationBook
from app.language.messages import Messages
from app.language.words import words
from kb_pipeline.records import Chunk, DocumentEntry, Quoted, SearchHit

_NOT_COMPARED = re.compile(r"[\W_]+")
_LONGEST_HEADING = 200
"""Characters of a heading in a list of contents; a longer one is a paragraph that looks like one."""
_MOST_HEADINGS = 40
"""Headings of a document in a list of contents: two screens of them."""
_MOST_VALUES = 12
"""Values of a fact in a line; of more, the others are counted."""


@dataclass(frozen=True)
class Document:
    """A document with its row in the index and its sections, in the order of the text."""

    row: Chunk
    sections: Sequence[SearchHit]

    @property
    def entry(self) -> DocumentEntry:
        return self.row.entry

    @property
    def name(self) -> str:
        """Its title as inline markdown."""
        return f"*{plain(self.row.title)}*"

    def source(self, book: CitationBook) -> str:
        """A reference to its beginning."""
        return reference_to(self.sections[0] if self.sections else SearchHit(chunk=self.row, score=0.0), book)


def reference_to(hit: SearchHit, book: CitationBook) -> str:
    """A reference to a passage, which is added to the book."""
    [citation] = book.add([hit])
    return f"[Ref #{citation.number}]"


# --- lists ---------------------------------------------------------------------------------------


def table_of(documents: Sequence[Document], book: CitationBook, say: Messages) -> list[str]:
    """The lines of a table of documents, each with its source; columns that all would leave empty are left out."""
    columns = {
        "column_title": [plain(document.row.title) for document in documents],
        "column_type": [plain(document.entry.document_type) for document in documents],
        "column_date": [document.entry.upload_date[:10] for document in documents],
        "column_pages": [str(document.entry.page_count or "") for document in documents],
        "column_department": [plain(document.entry.department) for document in documents],
        "column_source": [document.source(book) for document in documents],
    }
    shown = {say(name): cells for name, cells in columns.items() if any(cells)}
    head = [_line(shown), _line("---" for _ in shown)]
    return [*head, *(_line(cells) for cells in zip(*shown.values(), strict=True))]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def counted_of(found: int, shown: int, conditions: str, say: Messages) -> str:
    """A line above a table: how many documents there are, which conditions they match, and how many are shown."""
    key = "documents_matching" if conditions else "documents"
    if shown < found:
        return say(f"{key}_first", number=shown, found=found, conditions=conditions)
    return say(key if conditions else "documents_found", number=found, conditions=conditions)


def described(wanted: Wanted, names: Sequence[Filter] | None = None) -> str:
    """The filters of a question in its own words, as inline markdown."""
    listed = wanted.filters if names is None else names
    return ", ".join(f"*{plain(wanted.said.get(name, name))}*" for name in listed)


_KNOWN: Mapping[Filter, str] = {
    "kind": "known_types",
    "department": "known_departments",
    "author": "known_authors",
    "language": "known_languages",
    "days": "dates_of_documents",
    "pages": "pages_of_documents",
}


def nothing_met(wanted: Wanted, empty: Sequence[Filter], values: Mapping[Filter, Sequence[str]], say: Messages) -> str:
    """Say which filters no document meets, and which values there are.

    ``empty`` are the filters that nothing meets even alone; if there are none, all together have no document.
    """
    if not empty:
        return say("no_document_matches_all", conditions=described(wanted))
    sentences = [say("no_document_matches", conditions=described(wanted, empty))]
    for name in empty:
        if known := values.get(name):
            listed = ", ".join(map(plain, known[:_MOST_VALUES]))
            if (more := len(known) - _MOST_VALUES) > 0:
                listed = say("and_more", listed=listed, number=more)
            sentences.append(say(_KNOWN[name], values=listed))
    return " ".join(sentences)


# --- facts ---------------------------------------------------------------------------------------

_FACTS = {
    "author": ("fact_author", "fact_no_author"),
    "upload_date": ("fact_date", "fact_no_date"),
    "created": ("fact_created", "fact_not_created"),
    "changed": ("fact_changed", "fact_not_changed"),
    "department": ("fact_department", "fact_no_department"),
    "document_type": ("fact_type", "fact_no_type"),
    "language": ("fact_language", "fact_no_language"),
}
"""The messages that state a fact, and that it is not known."""


def fact_of(document: Document, field: str, book: CitationBook, say: Messages) -> str:
    """A sentence that states a fact about a document, or that it is not known; with its source."""
    return f"{_fact(document, field, say)} {document.source(book)}"


def _fact(document: Document, field: str, say: Messages) -> str:
    entry, name = document.entry, document.name
    if field == "page_count":
        return (
            say("fact_pages", name=name, number=entry.page_count)
            if entry.page_count
            else say("fact_no_pages", name=name)
        )
    if field == "filename":
        return say("fact_file", name=name, value=f"`{entry.filename.replace('`', '')}`")
    if field not in _FACTS:
        return say("fact_title", name=name)
    value = str(getattr(entry, field))
    key = _FACTS[field][0 if value else 1]
    if field in ("created", "changed") and entry.upload_date:
        key += "_and_came_in" if value else "_but_came_in"
    if field in ("upload_date", "created", "changed"):
        return say(key, name=name, value=value[:10], came_in=entry.upload_date[:10])
    return say(key, name=name, value=plain(say.name_of(value) if field == "language" else value))


# --- summaries -----------------------------------------------------------------------------------


def heading_of(document: Document, say: Messages) -> str:
    """A line with the title of a document and its main facts, in bold."""
    entry = document.entry
    pages = say("pages", number=entry.page_count) if entry.page_count else ""
    facts = filter(None, (plain(entry.filename), plain(entry.document_type), pages))
    return f"**{plain(document.row.title)}** ({', '.join(facts)})"


def summary_of(document: Document, book: CitationBook, say: Messages) -> list[str]:
    """The sentences of the standard summary, each quoted with its page and its source; a quote for each paragraph."""
    finder = _Finder(document)
    quotes = []
    for paragraph in document.entry.summary.standard:
        sentences = (
            f"> {inline(sentence.text)}{_on_page(sentence, document, say)} {reference_to(hit, book)}"
            for sentence in paragraph
            if (hit := finder.holding(sentence))
        )
        quotes.append("\n>\n".join(sentences))
    return [quote for quote in quotes if quote]


def contents_of(document: Document, book: CitationBook, say: Messages) -> list[str]:
    """The headings of the first level with their pages, each with its source, as lines of a list."""
    finder = _Finder(document)
    lines = []
    for heading in document.entry.headings[:_MOST_HEADINGS]:
        if hit := finder.headed(heading):
            text = plain(heading.text[:_LONGEST_HEADING])
            lines.append(f"- {text}{_on_page(heading, document, say)} {reference_to(hit, book)}")
    return lines


def _on_page(quoted: Quoted, document: Document, say: Messages) -> str:
    if quoted.page is None:
        return ""
    number = str(quoted.page)
    breaks = (each for hit in document.sections for each in hit.chunk.page_breaks)
    label = next((each.label.strip() for each in breaks if each.page == quoted.page), "")
    if label in ("", number):
        return f" ({say('on_page', page=number)})"
    return f" ({say('on_page_numbered', label=plain(label), page=number)})"


class _Finder:
    """Finds the sections of a document that hold given words."""

    def __init__(self, document: Document) -> None:
        self._hits = document.sections
        self._texts = [_letters(hit.chunk.content) for hit in document.sections]

    def holding(self, sentence: Quoted) -> SearchHit | None:
        """The section that holds a sentence; else one of its page that holds most of its words."""
        wanted = _letters(sentence.text)
        holding = [hit for hit, text in zip(self._hits, self._texts, strict=True) if wanted in text]
        here = [hit for hit in holding if sentence.page is None or sentence.page in hit.chunk.pages]
        if here or holding:
            return (here or holding)[0]
        near = [hit for hit in self._hits if sentence.page is None or sentence.page in hit.chunk.pages]
        sentence_words = set(words(sentence.text))
        return max(near, key=lambda hit: len(sentence_words & set(words(hit.chunk.content))), default=None)

    def headed(self, heading: Quoted) -> SearchHit | None:
        """The first section under a heading; else the first one of its page."""
        wanted = _letters(heading.text)
        under = (hit for hit in self._hits if any(_letters(name) == wanted for name in _headings(hit.chunk)))
        on_page = (hit for hit in self._hits if heading.page is not None and heading.page in hit.chunk.pages)
        return next(under, None) or next(on_page, None)


def _headings(chunk: Chunk) -> tuple[str, ...]:
    return (*chunk.heading_path, chunk.section_header)


def _letters(text: str) -> str:
    return _NOT_COMPARED.sub("", text.casefold())
