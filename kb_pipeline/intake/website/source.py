"""The source ``website``: articles of the pages of a site, and of the documents that these lead to if that is told.

Links between pages lead to their articles, and pictures come with the pages that show them.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import NOT_THERE, ArticleOf, Fetched, IntakeSource, Item, LeftOut
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.pictures import Pictures
from kb_pipeline.intake.trees import Tree
from kb_pipeline.intake.website.addresses import SiteScope, whole
from kb_pipeline.intake.website.copy import SiteCopy, Thing
from kb_pipeline.intake.website.crawl import Crawl
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.intake.website.resolving import Resolved, html_of, main_file, resolve
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.main_file import INDEX_FILE
from kb_pipeline.store.locks import Locks
from kb_pipeline.store.staging_files import FileFacts

_MOST_MISSING = 200
"""Pictures that a page misses and that are looked for in each run."""


class WebsiteSource(IntakeSource):
    """The pages of a site below an address."""

    def __init__(self, name: str, options: WebsiteOptions, settings: Settings) -> None:
        super().__init__(name, "website-2")
        self._options, self._settings, self._scope = options, settings, SiteScope(options.url)
        self._copy = SiteCopy(self._folder)
        asyncio.run(self._crawl().check())
        self._shown = _Shown(self._copy)
        self._is_read = False
        self._found = Resolved({}, {}, {})

    @property
    def _folder(self) -> Path:
        return self._settings.home_path / "intake" / f"{self.name}.site"

    def _crawl(self) -> Crawl:
        return Crawl(self._options, self._copy, self._settings)

    def prepare(self, progress: Callable[[int], None] | None = None) -> None:
        with Locks(self._settings.home_path / "locks" / "intake").hold([f"{self.name}.site"]):
            asyncio.run(self._crawl().run(progress))
        self._shown = _Shown(self._copy)
        self._found = resolve(self._copy, self._options, self._scope)
        self._copy.set_items(self._found.items)
        self._is_read = True

    def items(self) -> Iterator[Item]:
        if not self._is_read:
            self.prepare()
        for address in sorted({*self._found.items, *self._found.problems}):
            thing = self._copy.get(address)
            if thing:
                problem = self._found.problems.get(address, "")
                yield Item(
                    id=self._scope.name(address),
                    version=f"failed: {problem}" if problem else self._version(thing),
                    link=address,
                    readers=self._options.readers,
                )

    def _version(self, thing: Thing) -> str:
        """The content, and where its links lead that do not lead to an article of just their address."""
        links = thing.read().links
        elsewhere = [(link, self._found.leads_to.get(link, "")) for link in links if not self._found.items.get(link)]
        return fingerprint(thing.digest, thing.charset, elsewhere) if elsewhere else f"{thing.digest}{thing.charset}"

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        if item.link in self._found.problems:
            raise IntakeError(self._found.problems[item.link])
        thing = self._copy.get(item.link)
        if thing is None or not self._copy.has(thing):
            raise IntakeError(f"{item.link} is not in the copy any more; the next run reads it again")
        if thing.kind == "document":
            main = main_file(thing)
            return Fetched(main, {main: self._copy.path(thing.digest)})
        facts = thing.read()
        if facts.why_none:
            return LeftOut(facts.why_none)
        addresses = _Addresses(self, thing, self._shown, article_of)
        page = rewrite_page(html_of(self._copy, thing), addresses.link, addresses.picture)
        files = {INDEX_FILE: page.encode(), **addresses.pictures.files}
        return Fetched(INDEX_FILE, files, {**addresses.missing, **addresses.pictures.parts})

    def versions(self, parts: Iterable[str]) -> Mapping[str, str]:
        return {address: self._shown.version(address) or NOT_THERE for address in parts}

    def article_at(self, address: str, article_of: ArticleOf) -> str | None:
        """The page or document of the article that an address leads to, seen from another article."""
        item = self._found.leads_to.get(address, address)
        main, article_id = self._found.items.get(item), article_of(self._scope.name(item))
        return f"../{quote(article_id)}/{quote(main)}" if main and article_id else None


class _Addresses:
    """Says where the addresses in one page lead."""

    def __init__(self, source: WebsiteSource, thing: Thing, shown: "_Shown", article_of: ArticleOf) -> None:
        self._source, self._article_of = source, article_of
        self._address, self._base = thing.address, thing.read().base
        self._shown, self.pictures = shown, Pictures(shown, self._find)
        self.missing: dict[str, str] = {}

    def link(self, address: str) -> str | None:
        """The address of the article that a link leads to, or where it leads from anywhere."""
        target = whole(address, self._base)
        if target is None or address.startswith("#"):
            return None
        place = urlsplit(address).fragment
        mark = f"#{place}" if place else ""
        if target == self._address and mark:  # within the page
            return mark
        return (self._source.article_at(target, self._article_of) or target) + mark

    def picture(self, address: str) -> str | None:
        """The file of a picture, or where it is from anywhere."""
        return self.pictures.place(address) or whole(address, self._base)

    def _find(self, address: str) -> str | None:
        target = whole(address, self._base)
        if target and self._shown.version(target) is None and len(self.missing) < _MOST_MISSING:
            self.missing[target] = NOT_THERE
        return target


class _Shown(Tree):
    """The pictures of the copy, by their addresses."""

    def __init__(self, copy: SiteCopy) -> None:
        super().__init__()
        self._copy = copy

    def files(self) -> Iterator[FileFacts]:
        raise NotImplementedError

    def content(self, name: str) -> Path:
        thing = self._copy.picture(name)
        if thing is None:
            raise IntakeError(f"{name} is not in the copy any more; the next run reads it again")
        return self._copy.path(thing.digest)

    def _version(self, name: str) -> str | None:
        thing = self._copy.picture(name)
        return thing.digest if thing else None
