"""Formats that pandoc reads: books, office texts and the sources of pages. One class of a few lines for each format.

What pandoc writes is HTML of one regular form, so that a few expressions make of it what the converter expects.
"""

import mimetypes
import re
import tempfile
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools
from kb_pipeline.sources.office import InsideImages, metafile
from kb_pipeline.sources.pandoc.program import INSIDE, Converted, convert, pandoc_version
from kb_pipeline.wording import counted

_PICTURE = re.compile(rf'(<(?:img|embed)\b[^<>]*?\ssrc=")(?:\./)?{INSIDE}/([^"]*)"')
_FORMULA = re.compile(r'<span\s+class="math (inline|display)">\\[(\[](.*?)\\[)\]]</span>', re.DOTALL)
_CODE = re.compile(r'<pre((?:\s+id="[^"]*")?)\s+class="(?:sourceCode )?([^" ]+)[^"]*"')
_NOTE = re.compile(r'<a href="(#fn\d+)" class="footnote-ref"[^>]*><sup>(\d+)</sup></a>')
_BACK = re.compile(r'<a href="#fnref\d+" class="footnote-back"[^>]*>[^<]*</a>')
_HEADING_TAG = re.compile(r"(</?h)([1-5])(?=[ >])")
_TITLE = re.compile(r'<h1 class="kb-title">.*?</h1>', re.DOTALL)
_HEAD_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_META = re.compile(r'<meta name="(author|date)" content="([^"]*)">')
_NOT_TAKEN_IN = re.compile(r"\[WARNING\] Could not load include file (.+?)(?: at .*)?$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LETTERS = re.compile(r"[^\W_]")
_NO_LANGUAGES = frozenset({"numberLines", "example", "literate", "sourceCode"})
"""Classes of code blocks with which pandoc says something else than the language."""
_MOST_NAMED = 5
"""Files that a warning names."""


class PandocSource(Source):
    """Reads one format by pandoc. ``reader`` is the name that pandoc has for it.

    ``names_languages``: classes of code blocks are those that pandoc made of the language.
    """

    reader: ClassVar[str] = ""
    rules: ClassVar[int] = 1
    shows_title: ClassVar[bool] = True
    names_languages: ClassVar[bool] = True

    def __init__(self, tools: SourceTools | None = None) -> None:
        self._tools = tools or SourceTools()

    def __init_subclass__(cls) -> None:
        cls.version = f"{cls.reader}-{cls.rules}+pypandoc-binary-{pandoc_version()}"

    def equipped(self, tools: SourceTools) -> Source:
        return type(self)(tools)

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            if not data.strip():
                raise EmptyArticleError(f"{name} is empty; stage the article again")
            prepared, warnings = self.prepare(name, data)
            with tempfile.TemporaryDirectory(prefix="kb-pandoc-") as folder:
                converted = convert(
                    Path(folder),
                    name,
                    prepared,
                    self.reader,
                    self._tools.limits,
                    shows_title=self.shows_title,
                )
            return self._document(name, data, converted, warnings)
        except (UnreadableArticleError, EmptyArticleError) as exc:
            raise type(exc)(f"{article_id}: {exc}") from exc

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Check a document, and return it as pandoc reads all of it, with warnings.

        Raises:
            UnreadableArticleError: it is not of this format, or harmful.
        """
        return data, ()

    def facts(self, data: bytes, said: Mapping[str, list[str]]) -> DocumentFacts:
        """Return what the document says about itself; ``said`` are the fields that pandoc found, by name."""
        dates = [date for date in said.get("date", ()) if _DATE.match(date)]
        return DocumentFacts(author=", ".join(said.get("author", ()))[:300], created=dates[0][:10] if dates else "")

    def finish(self, html: str) -> str:
        """Return what pandoc wrote as the format means it."""
        return html

    def _document(self, name: str, data: bytes, converted: Converted, warnings: tuple[str, ...]) -> SourceDocument:
        pictures = _Pictures(name, converted.pictures)
        html = _PICTURE.sub(pictures.placed, self.finish(converted.html))
        html = _FORMULA.sub(_formula, html)
        # hidden from those who hear the description of the picture, which says the same
        html = html.replace('<figcaption aria-hidden="true">', "<figcaption>")
        html = _BACK.sub("", _NOTE.sub(r'<sup><a href="\1">[\2]</a></sup>', html))
        if self.names_languages:
            html = _CODE.sub(_code, html)
        if title := _TITLE.search(html):
            html = html[: title.end()] + _HEADING_TAG.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", html[title.end() :])
        head, _, body = html.partition("<body>")
        elsewhere = _not_taken_in(name, converted.warnings)
        if not _LETTERS.search(re.sub(r"<[^>]*>", "", body)) and "<img" not in body:
            why = "".join(f"; {warning}" for warning in (*warnings, *elsewhere)[:1])
            raise EmptyArticleError(f"{name} holds no text and no image{why}")
        said: dict[str, list[str]] = {}
        for field, value in _META.findall(head):
            if value.strip():
                said.setdefault(field, []).append(" ".join(unescape(value).split()))
        facts = self.facts(data, said)
        named = _HEAD_TITLE.search(head)
        return SourceDocument(
            html,
            title=" ".join(unescape(named[1]).split()) if named and not self.shows_title else "",
            images=pictures.inside.files,
            warnings=(*warnings, *pictures.warnings(), *elsewhere),
            facts=None if facts == DocumentFacts() else facts,
        )


class _Pictures:
    """The pictures inside a document, each named as the file that it becomes."""

    def __init__(self, name: str, files: Mapping[str, bytes]) -> None:
        self._name, self._files = name, files
        self._unread: list[str] = []
        self.inside = InsideImages(name)

    def placed(self, match: re.Match[str]) -> str:
        """Write the place of a picture with the name of its file."""
        file = unquote(unescape(match[2]))
        kind = mimetypes.guess_type(file)[0] or ""
        if drawing := metafile(kind):
            self._unread.append(drawing.upper())
            return f'{match[1]}"'
        data = self._files.get(file)
        return f'{match[1]}{escape(self.inside.add(data, kind) if data else file)}"'

    def warnings(self) -> tuple[str, ...]:
        """Say which drawings are in formats that nothing here draws."""
        if not self._unread:
            return ()
        kinds = ", ".join(sorted(set(self._unread)))
        drawings = counted(len(self._unread), "drawing")
        return (f"{self._name}: {drawings} in a format that is not read ({kinds}); save them as PNG",)


def _formula(match: re.Match[str]) -> str:
    sign = "$" if match[1] == "inline" else "$$"
    return f"<code>{sign}{' '.join(match[2].split())}{sign}</code>"


def _code(match: re.Match[str]) -> str:
    return match[0] if match[2] in _NO_LANGUAGES else f'<pre{match[1]} data-lang="{match[2]}"'


def _not_taken_in(name: str, messages: tuple[str, ...]) -> tuple[str, ...]:
    return not_taken_in(name, [match[1] for line in messages if (match := _NOT_TAKEN_IN.match(line))])


def not_taken_in(name: str, files: list[str]) -> tuple[str, ...]:
    """Say which other files a document takes in, which are not read."""
    if not files:
        return ()
    named = list(dict.fromkeys(ascii(file[:100].strip()) for file in files))
    shown = ", ".join(named[:_MOST_NAMED]) + (", ..." if len(named) > _MOST_NAMED else "")
    return (f"{name} takes in other files, which are not read ({shown}); put their text into the document",)
