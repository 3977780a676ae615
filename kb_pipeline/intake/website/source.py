"""The source ``website``: articles of the pages of a site, and of the documents that these lead to if that is told.

A page is one article, however many addresses lead to it: by redirects, by the address that the page gives itself, and
by one content under several names. Links between pages lead to their articles.
"""

import asyncio
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.base import NOT_THERE, ArticleOf, Fetched, Item, LeftOut, Source
from kb_pipeline.intake.page_links import rewrite_page
from kb_pipeline.intake.pictures import Pictures
from kb_pipeline.intake.prose import SIGN_IN
from kb_pipeline.intake.trees import Tree
from kb_pipeline.intake.website.addresses import Scope, whole
from kb_pipeline.intake.website.copy import MOST_STEPS, SiteCopy, Thing
from kb_pipeline.intake.website.crawl import NEEDS_SIGN_IN, PDF, Crawl, document_name
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.decode import decode, in_utf_8
from kb_pipeline.steps.html.dom import parse
from kb_pipeline.steps.html.images import safe_stem
from kb_pipeline.steps.html.page import find_main_content, remove_furniture, visible_body
from kb_pipeline.steps.main_file import INDEX_FILE, is_document
from kb_pipeline.store.files import read_bytes
from kb_pipeline.store.locks import Locks
from kb_pipeline.store.staging_files import FileFacts

_SAME = 0.8
"""Share of a page's words that the page has which it names as its canonical address. Sites that name one page as the
address of all are common; what such pages share is navigation, which is not counted."""
_MOST_MISSING = 200
"""Pictures that a page misses and that are looked for in each run."""
_INDEX = re.compile(r"/(?:index|default)\.\w+$")
_WORD = re.compile(r"\w+")


class WebsiteSource(Source):
    """The pages of a site below an address."""

    def __init__(self, name: str, options: WebsiteOptions, settings: Settings) -> None:
        super().__init__(name, "website-1")
        self._options, self._settings, self._scope = options, settings, Scope(options.url)
        self._copy = SiteCopy(self._folder)
        asyncio.run(self._crawl().check())
        self._shown = _Shown(self._copy)
        self._is_read = False
        self._items: dict[str, str] = {}
        """The addresses of items, each with the main file of its article; "" if it is left out."""
        self._leads_to: dict[str, str] = {}
        """The items that other addresses lead to."""
        self._problems: dict[str, str] = {}
        """Why the newest versions of items are not taken; their articles, if they have any, stay as they are."""

    @property
    def _folder(self) -> Path:
        return self._settings.home_path / "intake" / f"{self.name}.site"

    def _crawl(self) -> Crawl:
        return Crawl(self._options, self._copy, self._settings)

    def prepare(self, progress: Callable[[int], None] | None = None) -> None:
        with Locks(self._settings.home_path / "locks" / "intake").hold([f"{self.name}.site"]):
            asyncio.run(self._crawl().run(progress))
        self._shown = _Shown(self._copy)
        self._resolve()
        self._is_read = True

    def items(self) -> Iterator[Item]:
        if not self._is_read:
            self.prepare()
        for address in sorted({*self._items, *self._problems}):
            thing = self._copy.get(address)
            if thing:
                problem = self._problems.get(address, "")
                yield Item(
                    id=self._scope.name(address),
                    version=f"failed: {problem}" if problem else self._version(thing),
                    link=address,
                    readers=self._options.readers,
                )

    def _version(self, thing: Thing) -> str:
        """The content, and where its links lead that do not lead to an article of just their address."""
        links = thing.read().links
        elsewhere = [(link, self._leads_to.get(link, "")) for link in links if not self._items.get(link)]
        return fingerprint(thing.digest, thing.charset, elsewhere) if elsewhere else f"{thing.digest}{thing.charset}"

    def _resolve(self) -> None:
        """Decide which addresses are items, and which lead to them."""
        items: dict[str, str] = {}
        steps: dict[str, str] = {}
        problems: dict[str, str] = {}
        alike: dict[tuple[str, str], list[Thing]] = {}
        were_items, sign_ins = [], set()
        digest = same_as = ""
        for thing in self._copy.pages():
            if not self._may_be_item(thing):
                continue
            # of what was never read, only what is for everybody is named
            if thing.problem and (thing.digest or NEEDS_SIGN_IN not in thing.problem):
                problems[thing.address] = thing.problem
            if thing.leads_to:
                steps[thing.address] = thing.leads_to
                were_items += [thing.address] if thing.is_item else []
            elif thing.digest and thing.digest == digest:
                steps[thing.address] = same_as
            elif thing.digest:
                digest, same_as, facts = thing.digest, thing.address, thing.read()
                sign_ins |= {thing.address} if facts.why_none == SIGN_IN else set()
                if thing.canonical not in ("", thing.address) and self._is_same(thing):
                    steps[thing.address] = thing.canonical
                else:
                    items[thing.address] = "" if facts.why_none else _main_file(thing)
                    if thing.kind == "page":
                        alike.setdefault((_place(thing.address), facts.shows), []).append(thing)
        for things in alike.values():
            first, *others = sorted(things, key=lambda each: (not each.is_item, len(each.address), each.address))
            for other in others:
                steps[other.address] = first.address
                del items[other.address]
        ends = {address: _end(address, steps) for address in steps}
        for address in were_items:
            if ends[address] in sign_ins or ends[address] in steps:  # to sign in, or in a circle
                problems[address] = f"{address} leads to {ends[address]}, and not to a page for everybody"
                items[address] = INDEX_FILE
        self._items = items
        self._problems = {each: why for each, why in problems.items() if each in items or each not in steps}
        self._leads_to = {address: end for address, end in ends.items() if items.get(end)}
        self._copy.set_items(items)

    def _may_be_item(self, thing: Thing) -> bool:
        is_wanted = self._options.makes_article_of(self._scope.name(thing.address)) and thing.kind != "picture"
        return is_wanted and not thing.read().no_index

    def _is_same(self, thing: Thing) -> bool:
        """Whether a page is the one that it names as its canonical address, and not only says so."""
        other = self._copy.get(thing.canonical)
        if other is None or other.kind != "page" or other.canonical not in ("", other.address) or other.problem:
            return False
        if not self._may_be_item(other):
            return False
        if not thing.verdict.startswith(other.digest):
            same = _share(self._words(thing), self._words(other)) >= _SAME
            thing = thing._replace(verdict=f"{other.digest} {'same' if same else 'other'}")
            self._copy.store(thing)
        return thing.verdict.endswith("same")

    def _words(self, thing: Thing) -> set[str]:
        page = parse(self._html(thing))
        if page is None:
            return set()
        body = visible_body(page)
        remove_furniture(body)
        return set(_WORD.findall(" ".join(map(str, find_main_content(body).itertext()))))

    def fetch(self, item: Item, article_of: ArticleOf) -> Fetched | LeftOut:
        if item.link in self._problems:
            raise IntakeError(self._problems[item.link])
        thing = self._copy.get(item.link)
        if thing is None or not self._copy.has(thing):
            raise IntakeError(f"{item.link} is not in the copy any more; the next run reads it again")
        if thing.kind == "document":
            main = _main_file(thing)
            return Fetched(main, {main: self._copy.path(thing.digest)})
        facts = thing.read()
        if facts.why_none:
            return LeftOut(facts.why_none)
        addresses = _Addresses(self, thing, self._shown, article_of)
        page = rewrite_page(self._html(thing), addresses.link, addresses.picture)
        files = {INDEX_FILE: page.encode(), **addresses.pictures.files}
        return Fetched(INDEX_FILE, files, {**addresses.missing, **addresses.pictures.parts})

    def versions(self, parts: Iterable[str]) -> Mapping[str, str]:
        return {address: self._shown.version(address) or NOT_THERE for address in parts}

    def _html(self, thing: Thing) -> str:
        return decode(thing.address, in_utf_8(read_bytes(self._copy.path(thing.digest)), thing.charset))

    def article_at(self, address: str, article_of: ArticleOf) -> str | None:
        """The page or document of the article that an address leads to, seen from another article."""
        item = self._leads_to.get(address, address)
        main, article_id = self._items.get(item), article_of(self._scope.name(item))
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
        found = whole(address, self._base)
        if found and self._shown.version(found) is None and len(self.missing) < _MOST_MISSING:
            self.missing[found] = NOT_THERE
        return found


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


def _main_file(thing: Thing) -> str:
    """The name of the main file of an article."""
    if thing.kind != "document":
        return INDEX_FILE
    name = document_name(thing.address)
    return safe_stem(name) + (posixpath.splitext(name)[1] if is_document(name) else PDF)


def _place(address: str) -> str:
    """An address without what often makes no difference: then the pages decide whether it does."""
    return _INDEX.sub("", address.partition("?")[0].casefold()).rstrip("/")


def _end(address: str, steps: Mapping[str, str]) -> str:
    for _ in range(MOST_STEPS):
        address = steps.get(address, address)
    return address


def _share(words: set[str], others: set[str]) -> float:
    """The share of words that are among others."""
    return len(words & others) / len(words) if words else 0.0
