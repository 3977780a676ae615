"""The headers of a Word document's pages, as far as they say something that its text does not.

A header often repeats the title; but the number of a document, its version and from when it is valid may stand there
alone. That is told once, below the title. Footers are left out: they hold page numbers and addresses.
"""

import re
from collections.abc import Iterator, Sequence

from kb_pipeline.sources.docx.blocks import HEADING
from kb_pipeline.sources.docx.styles import Element, child, made_like, value
from kb_pipeline.sources.office import name_of

_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION|STYLEREF)\b", re.IGNORECASE)
"""Fields that say which page this is, or repeat what stands on it."""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = " | "
_TEXT = {"t": "", "tab": "\t", "br": "\t", "noBreakHyphen": "-"}


def insert_headers(tree: Element, headers: Sequence[Element]) -> None:
    """Put what only the headers say into ``word/document.xml``, in place: below the title, else at the beginning."""
    body = child(tree, "body")
    if body is None:
        return
    words = set(_words(" ".join(text.text or "" for text in tree.iter("{*}t"))))
    said = (_BETWEEN.join(line for line in _lines(header) if not words.issuperset(_words(line))) for header in headers)
    lines = list(dict.fromkeys(filter(None, said)))
    first = next(
        (block for block in body if name_of(block) == "p" and next(block.iter("{*}t"), None) is not None), None
    )
    is_title = first is not None and _is_heading(first)
    at = body.index(first) + 1 if is_title else 0
    for line in reversed(lines):
        paragraph, run, text = made_like(body, "p"), made_like(body, "r"), made_like(body, "t")
        text.text = line
        run.append(text)
        paragraph.append(run)
        body.insert(at, paragraph)


def _is_heading(paragraph: Element) -> bool:
    return value(child(paragraph, "pPr", "pStyle")).startswith(HEADING)


def _lines(header: Element) -> Iterator[str]:
    """The paragraphs of a header, and the rows of its tables, without what only counts pages."""
    for block in header.iter("{*}p", "{*}tr"):
        if name_of(block) == "tr" or next(block.iterancestors("{*}tr"), None) is None:
            paragraphs = [block] if name_of(block) == "p" else list(block.iter("{*}p"))
            pieces = [piece for paragraph in paragraphs for piece in _pieces(paragraph)]
            if pieces:
                yield _BETWEEN.join(pieces)


def _pieces(paragraph: Element) -> list[str]:
    """What stands between the tabs of a paragraph; a piece that counts pages is none."""
    text = ""
    for part in paragraph.iter("{*}t", "{*}tab", "{*}br", "{*}noBreakHyphen", "{*}instrText"):
        name = name_of(part)
        if name == "instrText":
            text += "\0" if _COUNTING.match(part.text or "") else ""
        elif name in _TEXT and name_of(part.getparent()) == "r":
            text += part.text or "" if name == "t" else _TEXT[name]
    pieces = (" ".join(piece.split()) for piece in text.split("\t") if "\0" not in piece)
    return [piece for piece in pieces if _WORD.search(piece)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
