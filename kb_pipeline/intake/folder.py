"""The source ``folder``: any tree of pages, documents and pictures, as a folder or a ZIP.

Built manuals, a wiki's dump and exports are such trees, of whatever tool. Each page and each document becomes an
article; the pictures that it shows come with it; pages that only lead to others are left out, see ``prose.py``.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field, ValidationInfo, field_validator

from kb_pipeline.errors import EmptyArticleError, IntakeError, KnowledgeBaseError
from kb_pipeline.intake.base import NOT_THERE, ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused, Unused
from kb_pipeline.intake.chapters import ChapteredPage
from kb_pipeline.intake.naming import name_of
from kb_pipeline.intake.page_links import rewrite_markdown, rewrite_page
from kb_pipeline.intake.pictures import Pictures
from kb_pipeline.intake.prose import why_no_article
from kb_pipeline.intake.trees import Tree, open_tree
from kb_pipeline.intake.web_archive import WebArchive, read_web_archive
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.main_file import (
    INDEX_FILE,
    PAGES,
    format_of,
    is_article_of_tree,
    is_document,
    why_document_not_read,
    why_no_article_of_tree,
)
from kb_pipeline.steps.metadata import METADATA_FILE, read_metadata

_PAGES = (*PAGES, ".xht")
_ARCHIVES = (".mhtml", ".mht")
_INTERNAL = ("_", ".")
"""Folders whose names begin so hold what a tool needs (``_static``, ``_modules``), and no pages."""


_NAME_AND_ID = re.compile(r"(.+) [0-9a-f]{32}")
"""How Notion names the files that it exports."""
_MOST_MISSING = 200
"""Files that a page misses and that are looked for in each run."""
_PAGES_AT_ONCE = 16
"""Pages that are kept cut into chapters."""


class TreeOptions(Options):
    """What ``intake.yaml`` says of a tree, wherever it is."""

    url: str = Field("", description="Where the same tree is published, so that citations lead there (https://...).")
    chapters: Literal["", "h1", "h2", "h3"] = Field(
        "", description="Cut each page at its headings down to this level: an article for each chapter."
    )

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        if value and not value.startswith(("https://", "http://")):
            raise ValueError("it is not a web address (https://...)")
        return f"{value.rstrip('/')}/" if value else ""


class FolderOptions(TreeOptions):
    """Take in a tree of pages, documents and pictures: a built manual, a wiki's dump, an export."""

    kind: Literal["folder"] = "folder"
    path: Path = Field(description="A folder or a ZIP archive, seen from the file that declares it.")

    @field_validator("path")
    @classmethod
    def _is_absolute(cls, value: Path, info: ValidationInfo) -> Path:
        declared_in = (info.context or {}).get("folder", Path())  # runs may start in another folder
        return Path(declared_in, value.expanduser()).absolute()

    @classmethod
    def name_for(cls, given: Mapping[str, object]) -> str:
        return name_of(Path(str(given["path"])))


class TreeSource(IntakeSource):
    """A tree of pages, documents and pictures."""

    def __init__(self, name: str, options: TreeOptions, tree: Tree, settings: Settings) -> None:
        # another address or other chapters lead the links of all pages elsewhere
        super().__init__(name, f"folder-3 {fingerprint(options.url, options.chapters)[:12]}")
        self._options, self._largest = options, settings.document_bytes
        self._tree = tree
        self._readers = lru_cache(10_000)(self._readers_in)
        self._chapters = lru_cache(_PAGES_AT_ONCE)(self._chapters_in)

    def items(self) -> Iterator[Item | Refused | Unused]:
        for file in self._tree.files():
            if not self._is_chosen(file.name):
                continue
            if reason := why_no_article_of_tree(file.name):
                yield Unused(id=file.name, reason=reason)
                continue
            problem = why_document_not_read(file.name)
            if not problem and file.size > self._largest:
                problem = f"has {file.size:,} bytes, at most {self._largest:,} are read; raise KB_DOCUMENT_BYTES"
            if problem:
                yield Refused(id=file.name, reason=f"{file.name} {problem}")
                continue
            yield from self._items_of(file.name, file.version)

    def _items_of(self, name: str, version: str) -> Iterator[Item | Refused]:
        address, readers = self._options.url and self._options.url + quote(name), self._readers(posixpath.dirname(name))
        page = Item(id=name, version=version, title=_title_of(name), link=address, readers=readers)
        try:
            chaptered = self._chapters(name)
        except KnowledgeBaseError:  # fetching it says what is wrong
            chaptered = None
        for chapter in chaptered.chapters if chaptered else ():
            part = f"#{chapter.anchor}" if chapter.anchor else ""
            yield page.model_copy(update={"id": name + part, "link": address and address + part})
        if not chaptered:
            yield page

    def _chapters_in(self, name: str) -> ChapteredPage | None:
        """The chapters of a page, if it is to be cut."""
        if not self._options.chapters or not name.lower().endswith(_PAGES):
            return None
        return ChapteredPage(decode(name, self._tree.read(name)), self._options.chapters)

    def _is_chosen(self, name: str) -> bool:
        *folders, last = name.split("/")
        if any(folder.startswith(_INTERNAL) for folder in folders):
            return False
        if not (
            last.lower().endswith(_PAGES + _ARCHIVES)
            or is_article_of_tree(last)
            or why_no_article_of_tree(last)
            or why_document_not_read(last)
        ):
            return False
        return self._options.chooses(name)

    def _readers_in(self, folder: str) -> tuple[str, ...] | None:
        """Who may read what lies in a folder, after the ``metadata.json`` in it, if there is one."""
        named, own = self._options.readers, posixpath.join(folder, METADATA_FILE)
        if self._tree.version(own) is None:
            return named
        try:
            listed = read_metadata(self._tree.read(own)).metadata.access_control_list
        except KnowledgeBaseError:
            return None
        both = tuple(name for name in listed if not named or name in named)
        return (both or (HIDDEN,)) if listed else named

    def versions(self, parts: Iterable[str]) -> Mapping[str, str]:
        return {name: self._tree.version(name) or NOT_THERE for name in parts}

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        name, _, anchor = item.id.partition("#") if self._options.chapters else (item.id, "", "")
        if name.lower().endswith(_PAGES):
            return self._page(name, self._tree.read(name), article_of, anchor=anchor)
        if item.id.lower().endswith(_ARCHIVES):
            archive = read_web_archive(item.id, self._tree.read(item.id))
            return self._page(item.id, archive.page, article_of, archive)
        main = posixpath.basename(item.id)
        if format_of(main) == "markdown":
            return self._markdown(item.id, main, article_of)
        return Fetched(main, {main: self._tree.content(item.id)})

    def _page(
        self, name: str, data: bytes, article_of: ArticleOf, archive: WebArchive | None = None, anchor: str = ""
    ) -> Fetched | LeftOut:
        try:
            html = decode(name, data)
            if chaptered := None if archive else self._chapters(name):
                html = chaptered.html(anchor)
        except EmptyArticleError:
            return LeftOut("it is empty")
        except KnowledgeBaseError as exc:
            raise IntakeError(str(exc)) from exc
        if reason := why_no_article(html):
            return LeftOut(reason)
        addresses = _Addresses(self, name, article_of, anchor)
        pictures = Pictures(self._tree, addresses.picture, archive)
        page = rewrite_page(html, addresses.link, pictures.place)
        files = {INDEX_FILE: page.encode(), **pictures.files}
        parts = {**addresses.missing, **pictures.parts}
        return Fetched(INDEX_FILE, files, parts, archive.link if archive else "")

    def _markdown(self, name: str, main: str, article_of: ArticleOf) -> Fetched:
        data = self._tree.read(name)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return Fetched(main, {main: data})  # the conversion says what is wrong with it
        addresses = _Addresses(self, name, article_of)
        pictures = Pictures(self._tree, addresses.picture)
        written = rewrite_markdown(text, addresses.link, pictures.place)
        return Fetched(main, {main: written.encode(), **pictures.files}, {**addresses.missing, **pictures.parts})

    def find(self, folder: str, address: str) -> Iterator[str]:
        """The names that an address in a page of this folder may mean, the likeliest first."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return
        if parts.scheme or parts.netloc:
            if not (self._options.url and address.startswith(self._options.url)):
                return
            path = "/" + urlsplit(address.removeprefix(self._options.url)).path
        else:
            path = parts.path
        path = unquote(path.replace("\\", "/"))
        if not path.startswith("/"):
            yield from _spellings(posixpath.normpath(posixpath.join(folder, path))) if path else ()
            return
        # a site's own root may be some folders above this tree
        below = [step for step in posixpath.normpath(path).split("/") if step]
        for start in range(len(below) + 1):
            yield from _spellings("/".join(below[start:]) or ".")

    def published(self, folder: str, address: str) -> str | None:
        """Where an address that leads to no article leads on the published site."""
        if not self._options.url or address.startswith(("#", "/")) or ":" in address.split("/", maxsplit=1)[0]:
            return None
        path, mark, rest = address.partition("#")
        name = posixpath.normpath(posixpath.join(folder, path))
        return None if name.startswith("..") else f"{self._options.url}{name}{mark}{rest}"

    def item_of(self, name: str, place: str) -> str:
        """The id of the item that has a place in a file: the file's, or that of its chapter."""
        try:
            chaptered = self._chapters(name) if self._options.chapters and self.has(name) else None
        except KnowledgeBaseError:
            chaptered = None
        anchor = chaptered.places.get(place, "") if chaptered else ""
        return f"{name}#{anchor}" if anchor else name

    def has(self, name: str) -> bool:
        """Whether the tree has a file of this name."""
        return self._tree.version(name) is not None


class FolderSource(TreeSource):
    """A folder or a ZIP."""

    def __init__(self, name: str, options: FolderOptions, settings: Settings) -> None:
        _check_apart(options.path, settings)
        super().__init__(name, options, open_tree(options.path), settings)


def _title_of(name: str) -> str:
    """The title of a table that would have its file's name with an id; "" if the file has a title of its own."""
    stem = posixpath.splitext(posixpath.basename(name))[0]
    match = _NAME_AND_ID.fullmatch(stem) if format_of(name) == "spreadsheet" else None
    return match[1] if match else ""


def _check_apart(path: Path, settings: Settings) -> None:
    """Refuse a source that holds what is made of it, or is that: each run would take in the articles of the last one.

    Raises:
        IntakeError: it does, or is.
    """
    for name, place in (("KB_STAGING", Path(settings.staging)), ("KB_HOME", settings.home_path)):
        source, made = path.resolve(), place.resolve()
        if source.is_relative_to(made) or made.is_relative_to(source):
            raise IntakeError(
                f"{path} cannot be a source while {name} is {place}, as one is inside the other; set {name} to another "
                "folder"
            )


class _Addresses:
    """Says where the addresses in one page lead."""

    def __init__(self, source: TreeSource, name: str, article_of: ArticleOf, anchor: str = "") -> None:
        self._source, self._name, self._article_of = source, name, article_of
        self._item = f"{name}#{anchor}" if anchor else name
        self._folder = posixpath.dirname(name)
        self.missing: dict[str, str] = {}
        """What the page leads to or shows and the tree has not: the page is made again when that comes."""

    def _miss(self, address: str) -> None:
        names = [name for name in self._source.find(self._folder, address) if not self._source.has(name)]
        if len(self.missing) + len(names) <= _MOST_MISSING:
            self.missing |= dict.fromkeys(names, NOT_THERE)

    def link(self, address: str) -> str | None:
        """The address of the article that a link leads to."""
        path, mark, place = address.partition("#")
        for name in self._source.find(self._folder, path) if path else [self._name]:
            item = self._source.item_of(name, unquote(place))
            if item == self._item:  # within the page
                return mark + place if path and mark else None
            article_id = self._article_of(item)
            if article_id is not None:
                main = posixpath.basename(name) if is_document(name) else INDEX_FILE
                return f"../{quote(article_id)}/{quote(main)}{mark}{place}"
        self._miss(path)
        return self._source.published(self._folder, address)

    def picture(self, address: str) -> str | None:
        """The name of a picture's file in the tree."""
        name = next(filter(self._source.has, self._source.find(self._folder, address)), None)
        if name is None:
            self._miss(address)
        return name


def _spellings(path: str) -> Iterator[str]:
    if path.startswith(".."):
        return
    if path == ".":
        yield INDEX_FILE
        return
    yield path
    if posixpath.splitext(path)[1].lower() not in _PAGES:
        yield from (f"{path}/{INDEX_FILE}", f"{path}.html", f"{path}.md")
