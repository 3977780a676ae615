"""Words what is said about whole documents: a table of them, their facts, their summaries. Pure.

Each statement ends in a reference to a passage of its document, where a reader can check it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.answering.extractive.quoting import inline, plain
from app.grounding.citations import CitationBook
from app.grounding.words import words
from app.planning.wanted import Filter, Wanted
from kb_pipeline.records import Chunk, DocumentEntry, PageBreak, Quoted, SearchHit
from kb_pipeline.wording import counted

_NOT_COMPARED = re.compile(r"[\W_]+")
_LONGEST_HEADING = 200
_MOST_HEADINGS = 40
_MOST_VALUES = 12
_LANGUAGES = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian"}


@dataclass(frozen=True)
class Document:
    """A document with its row in the index and its sections, in the order of the text."""

    row: Chunk
    sections: Sequence[SearchHit]

    @property
    def entry(self) -> DocumentEntry:
        return entry_of(self.row)

    @property
    def name(self) -> str:
        """Its title as inline markdown."""
        return f"*{plain(self.row.title)}*"

    def source(self, book: CitationBook) -> str:
        """A reference to its beginning."""
        return reference_to(self.sections[0] if self.sections else SearchHit(chunk=self.row, score=0.0), book)


def entry_of(row: Chunk) -> DocumentEntry:
    """What a row of the list of documents says."""
    return row.document or DocumentEntry(filename=row.filename)


def reference_to(hit: SearchHit, book: CitationBook) -> str:
    """A reference to a passage, which is added to the book."""
    [citation] = book.add([hit])
    return f"[Ref #{citation.number}]"


# --- lists ---------------------------------------------------------------------------------------


def table_of(documents: Sequence[Document], book: CitationBook) -> list[str]:
    """The lines of a table of documents, each with its source; columns that all would leave empty are left out."""
    columns = {
        "Title": [plain(document.row.title) for document in documents],
        "Type": [plain(document.entry.document_type) for document in documents],
        "Date": [document.entry.upload_date[:10] for document in documents],
        "Pages": [str(document.entry.page_count or "") for document in documents],
        "Department": [plain(document.entry.department) for document in documents],
        "Source": [document.source(book) for document in documents],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    head = [_line(shown), _line("---" for _ in shown)]
    return [*head, *(_line(cells) for cells in zip(*shown.values(), strict=True))]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def counted_of(found: int, shown: int, conditions: str) -> str:
    """A line above a table: how many documents there are, which conditions they match, and how many are shown."""
    matching = f" {'matches' if found == 1 else 'match'} {conditions}" if conditions else ""
    only_some = f"; {'this is the first' if shown == 1 else f'these are the first {shown}'}" if shown < found else ""
    return f"{counted(found, 'document')}{matching}{only_some}:"


def gone_of(gone: int, chosen: int) -> str:
    """Say that some of the documents that the asker chose are not there."""
    of_all = f"{gone} of the {counted(chosen, 'document')}"
    are, them = ("is", "it") if gone == 1 else ("are", "them")
    return f"{of_all} that you chose {are} not in the knowledge base any more, or you may not see {them}."


def described(wanted: Wanted, names: Sequence[Filter] | None = None) -> str:
    """The filters of a question in its own words, as inline markdown."""
    listed = wanted.filters if names is None else names
    return ", ".join(f"*{plain(wanted.said.get(name, name))}*" for name in listed)


def nothing_met(wanted: Wanted, empty: Sequence[Filter], values: Mapping[Filter, Sequence[str]]) -> str:
    """Say which filters no document meets, and which values there are.

    ``empty`` are the filters that nothing meets even alone; if there are none, all together have no document.
    """
    if not empty:
        return f"No document matches all of {described(wanted)} at once."
    sentences = [f"No document matches {described(wanted, empty)}."]
    for name in empty:
        if known := values.get(name):
            more = f" and {len(known) - _MOST_VALUES} more" if len(known) > _MOST_VALUES else ""
            sentences.append(f"{_LABELS[name]}: {', '.join(map(plain, known[:_MOST_VALUES]))}{more}.")
    return " ".join(sentences)


_LABELS: Mapping[Filter, str] = {
    "kind": "Known types",
    "department": "Known departments",
    "author": "Known authors",
    "language": "Known languages",
    "days": "Dates of the documents",
    "pages": "Pages of the documents",
    "subject": "",
}


# --- facts ---------------------------------------------------------------------------------------


def fact_of(document: Document, field: str, book: CitationBook) -> str:
    """A sentence with a fact about a document, or that nobody says it; with its source."""
    return f"{_fact(document, field)} {document.source(book)}"


def _fact(document: Document, field: str) -> str:
    entry, name = document.entry, document.name
    came_in = f"; it came in on {entry.upload_date[:10]}" if entry.upload_date else ""
    nor_came_in = came_in or ", nor when it came in"
    match field:
        case "page_count":
            pages = "1 page" if entry.page_count == 1 else f"{entry.page_count} pages"
            return (
                f"{name} has {pages}." if entry.page_count else f"{name} has no pages: its format does not count them."
            )
        case "author":
            return f"{name} is by {plain(entry.author)}." if entry.author else f"{name} does not say who wrote it."
        case "upload_date":
            return f"{name} came in on {entry.upload_date[:10]}." if entry.upload_date else f"{name} has no date."
        case "created":
            said = f"{name} was written on {entry.created[:10]}{came_in}."
            return said if entry.created else f"{name} does not say when it was written{nor_came_in}."
        case "changed":
            said = f"{name} was last changed on {entry.changed[:10]}{came_in}."
            return said if entry.changed else f"{name} does not say when it was changed{nor_came_in}."
        case "department":
            belongs = f"{name} belongs to the department {plain(entry.department)}."
            return belongs if entry.department else f"{name} names no department."
        case "document_type":
            return (
                f"{name} is of the type {plain(entry.document_type)}."
                if entry.document_type
                else f"{name} has no type."
            )
        case "language":
            language = _LANGUAGES.get(entry.language.lower().partition("-")[0], entry.language)
            return f"{name} is in {plain(language)}." if language else f"{name} names no language."
        case "filename":
            return f"The file of {name} is called `{entry.filename.replace('`', '')}`."
        case _:
            return f"The title is {name}."


# --- summaries -----------------------------------------------------------------------------------


def heading_of(document: Document) -> str:
    """A line with the title of a document and its main facts, in bold."""
    entry = document.entry
    pages = f"{entry.page_count} page{'s' * (entry.page_count != 1)}" if entry.page_count else ""
    facts = filter(None, (plain(entry.filename), plain(entry.document_type), pages))
    return f"**{plain(document.row.title)}** ({', '.join(facts)})"


def summary_of(document: Document, book: CitationBook) -> list[str]:
    """The sentences of the standard summary, each quoted with its page and its source; a quote for each paragraph."""
    finder = _Finder(document)
    quotes = []
    for paragraph in document.entry.summary.standard:
        sentences = (
            f"> {inline(sentence.text)}{_on_page(sentence, document)} {reference_to(hit, book)}"
            for sentence in paragraph
            if (hit := finder.holding(sentence))
        )
        quotes.append("\n>\n".join(sentences))
    return [quote for quote in quotes if quote]


def contents_of(document: Document, book: CitationBook) -> list[str]:
    """The headings of the first level with their pages, each with its source, as lines of a list."""
    finder = _Finder(document)
    lines = []
    for heading in document.entry.headings[:_MOST_HEADINGS]:
        if hit := finder.headed(heading):
            text = plain(heading.text[:_LONGEST_HEADING])
            lines.append(f"- {text}{_on_page(heading, document)} {reference_to(hit, book)}")
    return lines


def _on_page(quoted: Quoted, document: Document) -> str:
    if quoted.page is None:
        return ""
    breaks: Iterator[PageBreak] = (each for hit in document.sections for each in hit.chunk.page_breaks)
    label = next((each.label.strip() for each in breaks if each.page == quoted.page), "")
    if not label or label == str(quoted.page):
        return f" (page {quoted.page})"
    return f" (page {plain(label)}, number {quoted.page} in the file)"


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
        asked = set(words(sentence.text))
        return max(near, key=lambda hit: len(asked & set(words(hit.chunk.content))), default=None)

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
