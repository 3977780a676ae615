"""Takes in the document libraries and pages of a SharePoint site, for those who may read them there.

A document is an item by its library and its own id there; both stay when it is moved or renamed. A page is one by its
own id; who may read it and what it shows is told by the files of the libraries where SharePoint keeps it.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal
from urllib.parse import quote, urljoin, urlsplit

from pydantic import Field, field_validator
from upath import UPath

from kb_pipeline.errors import EmptyArticleError, IntakeError, KnowledgeBaseError, UnreadableArticleError
from kb_pipeline.intake.base import NOT_THERE, ArticleOf, Fetched, IntakeSource, Item, LeftOut, Options, Refused
from kb_pipeline.intake.json_api import checked_address
from kb_pipeline.intake.page_links import rewrite_markdown, rewrite_page
from kb_pipeline.intake.prose import page_of, why_no_article
from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.shared_readers import Names
from kb_pipeline.intake.sharepoint.canvas import html_of
from kb_pipeline.intake.sharepoint.graph import PERMISSION, GraphApi
from kb_pipeline.intake.sharepoint.libraries import (
    File,
    Libraries,
    Library,
    path_of,
    was_published,
    why_not_published,
)
from kb_pipeline.intake.sharepoint.permissions import Readers
from kb_pipeline.intake.sharepoint.shown import SharedPage
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.html.images import safe_stem
from kb_pipeline.steps.main_file import INDEX_FILE, PAGES, format_of, is_article_of_tree, why_document_not_read
from kb_pipeline.store.files import remove_folder
from kb_pipeline.store.locks import Locks

_PAGES = "pages"
"""What stands for the library in the ids of pages."""
_ABOUT_PAGES = "id,name,title,webUrl,eTag,lastModifiedBy,lastModifiedDateTime,publishingState"
_ABOUT_LISTS = "id,displayName,webUrl,list,system"
_OF_PAGES, _OF_PICTURES = "webPageLibrary", "/siteassets"
_AT_ONCE = 8
"""Files whose permissions are asked for at the same time."""


class SharePointOptions(Options):
    """Take in the libraries and pages of a SharePoint site, for those who may read them there, as AZURE_* signs in."""

    kind: Literal["sharepoint"] = "sharepoint"
    url: str = Field(description="The address of the site: https://example.sharepoint.com/sites/handbook")
    libraries: tuple[str, ...] = Field((), description="Names of document libraries; default: all that the site shows.")
    pages: bool = Field(True, description="Take in the site's pages.")
    groups: Mapping[str, Names] = Field({}, description="Users and groups here, by the site's own groups.")
    graph: str = Field("https://graph.microsoft.com", description="Where Microsoft Graph is, in a national cloud.")

    _are_addresses = field_validator("url", "graph")(checked_address)


class SharePointSource(IntakeSource):
    """A site."""

    def __init__(self, name: str, options: SharePointOptions, settings: Settings) -> None:
        super().__init__(name, f"sharepoint-1 {fingerprint(options.url)[:12]}")
        self._options, self._settings = options, settings
        self._site = urlsplit(options.url.partition("?")[0].rstrip("/"))
        self._api = GraphApi(options.graph, settings.document_bytes, settings.attempts, (self._site.hostname or "",))
        self._folder = settings.home_path / "intake" / f"{name}.site"
        self._copy = Libraries(self._folder / "libraries.sqlite", self._api)
        self._documents: list[Library] = []
        self._others: list[Library] = []
        """Where the site's pages and their pictures are; the first is that of the pages, if they may be told."""
        self._pages: dict[str, Mapping[str, Any]] = {}
        self._page_at: dict[str, str] = {}
        """The items of pages, by the paths of their addresses."""
        self._is_prepared = False
        self._readers = Readers(self._api, self._copy, options.readers, options.groups)

    # --- what there is

    def prepare(self, progress: Callable[[int], None] | None = None) -> None:
        with Locks(self._settings.home_path / "locks" / "intake").hold([f"{self.name}.site"]):
            remove_folder(UPath(self._arriving))
            site = self._site_id()
            self._documents = list(self._libraries(site))
            for library in self._documents:
                self._copy.update(library.id)
            if self._options.pages:
                self._read_pages(site)
        self._is_prepared = True

    @property
    def _arriving(self) -> Path:
        return self._folder / "arriving"

    def _site_id(self) -> str:
        place = f"{self._site.hostname}:{self._site.path}" if self._site.path else f"{self._site.hostname}"
        try:
            return str(self._api.patiently_ask(f"/sites/{place}")["id"])
        except DeniedError as exc:
            raise IntakeError(
                f"{self._options.url} is not there, or may not be read by the identity of this process, which needs "
                f"the permission {PERMISSION}"
            ) from exc

    def _libraries(self, site: str) -> Iterator[Library]:
        wanted = set(self._options.libraries)
        for drive in self._api.entries(f"/sites/{site}/drives", **{"$select": "id,name,webUrl"}):
            if drive["name"] in wanted or not self._options.libraries:
                wanted.discard(drive["name"])
                yield Library(str(drive["id"]), drive["name"], path_of(drive.get("webUrl") or ""))
        if wanted:
            raise IntakeError(f"{self._options.url} has no document library {', '.join(sorted(wanted))}")

    def _read_pages(self, site: str) -> None:
        known = {library.id for library in self._documents}
        lists = list(self._api.entries(f"/sites/{site}/lists", **{"$select": _ABOUT_LISTS}))
        for each in sorted(lists, key=lambda each: (each.get("list") or {}).get("template") != _OF_PAGES):
            is_of_pages = (each.get("list") or {}).get("template") == _OF_PAGES
            if is_of_pages or path_of(each.get("webUrl") or "").lower().endswith(_OF_PICTURES):
                try:
                    drive = str(self._api.patiently_ask(f"/sites/{site}/lists/{each['id']}/drive")["id"])
                    if drive not in known:
                        self._copy.update(drive)
                except DeniedError:  # then it is not told who may read them
                    continue
                self._others.append(Library(drive, each["displayName"], path_of(each["webUrl"])))
        for page in self._api.entries(f"/sites/{site}/pages/graph.sitePage", **{"$select": _ABOUT_PAGES}):
            if was_published(page.get("publishingState")):
                item = f"{_PAGES}/{page['id']}"
                self._pages[item] = {**page, "path": f"/sites/{site}/pages/{page['id']}/graph.sitePage"}
                self._page_at[path_of(self._address_of(page)).lower()] = item

    def _address_of(self, page: Mapping[str, Any]) -> str:
        return urljoin(f"{self._site.geturl()}/", str(page.get("webUrl") or ""))

    def items(self) -> Iterator[Item | Refused]:
        if not self._is_prepared:
            self.prepare()
        for library in self._documents:
            yield from self._with_readers(self._items_of(library))
        yield from self._with_readers(self._items_of_pages())

    def _items_of(self, library: Library) -> Iterator[tuple[Item | Refused, File | None]]:
        for file in self._copy.files(library.id):
            path = f"{library.name}/{file.path}"
            problem = why_document_not_read(file.path)
            if not _is_taken(file.path, problem) or not self._options.chooses(path):
                continue
            if not problem and file.size > self._settings.document_bytes:
                problem = f"has {file.size:,} bytes; raise KB_DOCUMENT_BYTES"
            if problem:
                yield Refused(id=file.item, reason=f"{path} {problem}"), None
                continue
            item = Item(
                id=file.item,
                version=file.version,
                name=posixpath.splitext(file.path)[0],
                link=file.link if "?" in file.link else self._place_of(file),  # a folder may have moved with it
                author=file.author,
                date=file.date,
            )
            yield item, file

    def _items_of_pages(self) -> Iterator[tuple[Item | Refused, File | None]]:
        for item, page in self._pages.items():
            title = page.get("title") or posixpath.splitext(page.get("name") or "")[0]
            if self._options.chooses(title):
                by = (page.get("lastModifiedBy") or {}).get("user") or {}
                address = self._address_of(page)
                listed = Item(
                    id=item,
                    version=page.get("eTag") or page.get("lastModifiedDateTime") or "",
                    name=title,
                    title=title,
                    link=address,
                    author=by.get("displayName") or "",
                    date=page.get("lastModifiedDateTime") or "",
                )
                yield listed, self._file_at(path_of(address))

    def _file_at(self, path: str) -> File | None:
        libraries = [*self._documents, *self._others]
        return next(filter(None, (self._copy.at(library.id, path) for library in libraries)), None)

    # --- who may read it

    def _with_readers(self, found: Iterable[tuple[Item | Refused, File | None]]) -> Iterator[Item | Refused]:
        def with_readers(each: tuple[Item | Refused, File | None]) -> Item | Refused:
            item, file = each
            return item if isinstance(item, Refused) else item.model_copy(update={"readers": self._readers.of(file)})

        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="permissions") as pool:
            listed = iter(found)
            while some := list(islice(listed, 10 * _AT_ONCE)):  # so many at most are in memory
                yield from pool.map(with_readers, some)

    def versions(self, parts: Iterable[str]) -> Mapping[str, str]:
        return {part: self.version(part) for part in parts}

    def version(self, item: str) -> str:
        """A text that changes with a picture, and with who may see it."""
        file = self._copy.file(item)
        return f"{file.version} {fingerprint(sorted(self._readers.grants(item) or ()))[:12]}" if file else NOT_THERE

    # --- what becomes of it

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        try:
            if page := self._pages.get(item.id):
                return self._page(item, page, article_of)
            file = self._copy.file(item.id)
            if file is None:
                raise IntakeError(f"{item.name} is not in the copy of its library any more; the next run lists it anew")
            if file.problem:
                raise IntakeError(f"{item.name} {file.problem}; it is taken in when that is over")
            if file.path.lower().endswith(PAGES):
                return self._written_page(file, article_of)
            return self._markdown(file, article_of) if format_of(file.path) == "markdown" else self._document(file)
        except DeniedError:  # whoever may read the article here may not read it there any more
            return LeftOut("SharePoint does not let it be read", for_now=True)

    def _document(self, file: File) -> Fetched:
        self._arriving.mkdir(parents=True, exist_ok=True)
        folder, main = Path(mkdtemp(dir=self._arriving)), main_of(file)
        try:
            self._api.file_into(_path_of_content(file), folder / main)
        except KnowledgeBaseError:
            remove_folder(UPath(folder))
            raise
        return Fetched(main, {main: folder / main}, folder=folder)

    def _page(self, item: Item, page: Mapping[str, Any], article_of: ArticleOf) -> Fetched | LeftOut:
        if problem := why_not_published(page.get("publishingState")):
            raise IntakeError(f"{item.title} {problem}; it is taken in when that is over")
        answer = self._api.ask(page["path"], **{"$expand": "canvasLayout"})
        text = page_of(item.title, html_of(answer.get("canvasLayout") or {}))
        return _article(text, SharedPage(self, item.link, self._file_at(path_of(item.link)), article_of))

    def _written_page(self, file: File, article_of: ArticleOf) -> Fetched | LeftOut:
        try:
            text = decode(file.path, self.content(file))
        except EmptyArticleError:
            return LeftOut("it is empty")
        except UnreadableArticleError as exc:
            raise IntakeError(str(exc)) from exc
        return _article(text, SharedPage(self, self._place_of(file), file, article_of))

    def _markdown(self, file: File, article_of: ArticleOf) -> Fetched:
        data, main = self.content(file), main_of(file)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return Fetched(main, {main: data})  # the conversion says what is wrong with it
        shown = SharedPage(self, self._place_of(file), file, article_of)
        written = rewrite_markdown(text, shown.link, shown.picture)
        return Fetched(main, {main: written.encode(), **shown.files}, shown.parts)

    def _place_of(self, file: File) -> str:
        """The address of a file, from which those in it are seen."""
        return urljoin(self._options.url, quote(f"{self._copy.root(file.library)[1]}/{file.path}"))

    def content(self, file: File) -> bytes:
        """What is in a file.

        Raises:
            IntakeError: it cannot be used.
            TransientError: another try may work.
        """
        return self._api.file(_path_of_content(file))

    def article_at(self, address: str, article_of: ArticleOf) -> str | None:
        """The page or document of the article that an address of this site leads to, seen from another article."""
        path, host = path_of(address), urlsplit(address).hostname
        page = self._page_at.get(path.lower()) if host == self._site.hostname else None
        file = None if page else self.file_at(address)
        article_id = article_of(page or (file.item if file else ""))
        main = main_of(file) if file and not file.path.lower().endswith(PAGES) else INDEX_FILE
        return f"../{quote(article_id)}/{quote(main)}" if article_id else None

    def file_at(self, address: str) -> File | None:
        """The file at an address of this site."""
        return self._file_at(path_of(address)) if urlsplit(address).hostname == self._site.hostname else None

    def may_see(self, file: File | None, picture: File) -> bool:
        """Whether all who may read a file or page may also see a picture."""
        return self._readers.may_see(file, picture)


def main_of(file: File) -> str:
    """The name of a document's file, which every file system accepts."""
    return f"{safe_stem(file.path)}{posixpath.splitext(file.path)[1].lower()}"


def _path_of_content(file: File) -> str:
    return f"/drives/{file.library}/items/{file.id}/content"


def _article(text: str, shown: SharedPage) -> Fetched | LeftOut:
    if reason := why_no_article(text):
        return LeftOut(reason)
    page = rewrite_page(text, shown.link, shown.picture)
    return Fetched(INDEX_FILE, {INDEX_FILE: page.encode("utf-8", "replace"), **shown.files}, shown.parts)


def _is_taken(path: str, problem: str) -> bool:
    return bool(problem) or path.lower().endswith(PAGES) or is_article_of_tree(path)
