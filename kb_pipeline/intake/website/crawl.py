"""One crawl of a site into its copy: from its start and its sitemaps along all links below its prefix.

What is known is asked for with what the server said of its version then, so that it answers in a few bytes. An address
that fails keeps what is known of it, and is named; nothing of a site that fails as a whole is changed.
"""

import asyncio
import logging
import mimetypes
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from kb_pipeline.errors import (
    IntakeError,
    KnowledgeBaseError,
    SettingsError,
    StorageError,
    TransientError,
)
from kb_pipeline.intake.website.addresses import SiteScope, document_name, whole
from kb_pipeline.intake.website.answers import NEEDS_SIGN_IN, PAGES, Answers, decoded, type_of
from kb_pipeline.intake.website.client import Site, SiteClient
from kb_pipeline.intake.website.copy import Role, SiteCopy, Thing
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.intake.website.page import FACTS_VERSION, read_page
from kb_pipeline.intake.website.scripts import ScriptedPages
from kb_pipeline.intake.website.sitemaps import read_sitemap
from kb_pipeline.services.web.limited import REDIRECTS
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.main_file import is_document
from kb_pipeline.store.files import settle

_log = logging.getLogger(__name__)
AT_ONCE = 4
"""Requests that wait for one site; the rate bounds them as well."""
_AT_A_TIME = 100
"""Addresses that are asked for between two commits; a kill costs so many again."""
_REMEMBERED = 50_000
"""Addresses: some MB."""
_MOST_IN_A_ROW = 20
"""Pages that failed one after another, after which a site is taken for being down."""
_MOST_SITEMAPS = 1000
"""50,000 addresses each; an index may lead back to itself."""
_NOPAGES = frozenset({"image", "audio", "video", "font", "application"})
_TYPES = mimetypes.MimeTypes()
_NO_PAGE = "kb-pipeline-asks-for-a-page-that-is-not-here"
Progress = Callable[[int], None]


class Crawl:
    """Crawls one site."""

    def __init__(self, options: WebsiteOptions, copy: SiteCopy, settings: Settings) -> None:
        self._options, self._copy, self._scope = options, copy, SiteScope(options.url)
        self._pictures_from = {self._scope.origin, *options.pictures_from}
        self._client = SiteClient(
            Site(self._scope.origin, options.rate, AT_ONCE, options.allow_private), settings.attempts
        )
        self._number = self._failed = 0
        self._scripts = ScriptedPages(self._scope.origin, self._file) if settings.render == "chromium" else None
        # navigation leads to the same addresses from every page
        self._is_page = lru_cache(_REMEMBERED)(self._is_page_of_ours)

    async def check(self) -> None:
        """See whether the site can be taken in at all.

        Raises:
            IntakeError: its start is not there, not allowed, or leads elsewhere.
            TransientError: it does not answer now.
        """
        start = address = self._scope.start
        try:
            for _ in range(6):
                if not await self._client.is_allowed(address):
                    raise IntakeError(f"{self._scope.origin}/robots.txt does not allow {address}")
                received = await self._client.get(address, reads=lambda *_: False)
                if received.status not in REDIRECTS:
                    break
                address = whole(received.headers.get("location", ""), address) or ""
                if not self._scope.has(address):
                    raise IntakeError(f"{start} leads to {address or 'nowhere'}; declare that address")
            if received.status in (401, 403):
                raise IntakeError(f"{start} {NEEDS_SIGN_IN} ({received.status}); pages behind one are not read")
            if received.status != 200:
                raise IntakeError(f"{start} answered with status {received.status}")
        finally:
            await self._client.close()

    async def run(self, progress: Progress | None) -> None:
        """Crawl to the end.

        Raises:
            IntakeError, TransientError: that is not possible; what was read so far is kept for the next crawl.
        """
        options = fingerprint(self._options.model_dump(mode="json"))
        self._number = self._copy.begin(options, fingerprint(FACTS_VERSION, self._scope.prefix)[:16])
        try:
            self._answers = Answers(
                self._copy,
                self._scope,
                self._number,
                self._is_page,
                self._scripts,
                takes_documents=self._options.documents,
                shown_for_nothing=await self._shown_for_nothing(),
            )
            await self._find([self._scope.start], "page")
            await self._read_sitemaps()
            done = 0
            while pending := self._copy.pending(self._number, _AT_A_TIME):
                limit = asyncio.Semaphore(AT_ONCE)
                answers = await asyncio.gather(*(self._ask(thing, limit) for thing in pending), return_exceptions=True)
                await self._record(pending, answers)
                done += len(pending)
                if progress:
                    progress(done)
                if (pages := self._copy.count(self._number)) > self._options.most_pages:
                    raise IntakeError(
                        f"{self._scope.start} has more than {self._options.most_pages:,} pages, now {pages:,}; "
                        "exclude some, or raise most_pages"
                    )
        finally:
            if self._scripts:
                self._scripts.close()
            await self._client.close()
        self._copy.end(self._number)

    async def _shown_for_nothing(self) -> str:
        """What the site shows for a page that it has not, where it does not say so by its status."""
        shown = []
        for address in (f"{self._scope.prefix}{_NO_PAGE}", self._scope.start):
            received = await self._client.get(address) if await self._client.is_allowed(address) else None
            if received is None or received.status != 200 or type_of(received.headers)[0] not in PAGES:
                return "unknown"
            with suppress(IntakeError):  # it is no page
                html = decoded(address, received)
                shown.append(read_page(address, html).shows)
        # what is shown everywhere says nothing of a page: scripts fill it
        return shown[0] if len(set(shown)) == 2 else "unknown"

    async def _record(self, pending: Iterable[Thing], answers: "Iterable[Thing | BaseException]") -> None:
        things = []
        for thing, answer in zip(pending, answers, strict=True):
            if isinstance(answer, Thing):
                things.append(answer)
            elif isinstance(answer, StorageError | SettingsError) or not isinstance(answer, Exception):
                raise answer
            elif isinstance(answer, KnowledgeBaseError):
                things.append(thing._replace(problem=str(answer)))
            else:  # a defect that one page brings to light concerns only this page
                _log.error("%s cannot be read", thing.address, exc_info=answer)
                things.append(thing._replace(problem=f"{thing.address}: {type(answer).__name__}: {answer}"))
        settle(self._copy.path(each.digest) for each in things if each.digest)
        leads = [(thing, await self._leads(thing)) for thing in things]
        self._check_alive()
        with self._copy.transaction():
            for thing, (pages, pictures) in leads:
                self._copy.found(pages, "page", self._number)
                self._copy.found(pictures, "picture", self._number)
                self._copy.store(thing._replace(asked=self._number))

    async def _leads(self, thing: Thing) -> tuple[list[str], list[str]]:
        """The addresses that a thing leads to, and those that it shows."""
        role: Role = "page" if thing.as_page == self._number else "picture"
        target = await self._chosen(filter(None, [thing.leads_to]), role)
        if thing.kind != "page" or role == "picture":
            return (target, []) if role == "page" else ([], target)
        facts = thing.read()
        links = await self._chosen([*facts.links, *filter(None, [facts.canonical])], "page")
        return target + links, await self._chosen(facts.pictures, "picture")

    async def _find(self, addresses: Iterable[str], role: Role) -> None:
        self._copy.found(await self._chosen(addresses, role), role, self._number)

    async def _chosen(self, addresses: Iterable[str], role: Role) -> list[str]:
        """The addresses that this source asks for."""
        is_one = self._is_page if role == "page" else self._is_picture
        return [each for each in addresses if is_one(each) and await self._client.is_allowed(each)]

    def _is_page_of_ours(self, address: str) -> bool:
        name = document_name(address)
        if is_document(name):
            is_one = self._options.documents and self._scope.is_same_site(address)
        else:
            kind, _ = _TYPES.guess_type(name)
            is_one = self._scope.has(address) and (kind in PAGES or (kind or "").split("/")[0] not in _NOPAGES)
        return is_one and not self._options.excludes(self._scope.name(address))

    def _is_picture(self, address: str) -> bool:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}" in self._pictures_from

    async def _ask(self, thing: Thing, limit: asyncio.Semaphore) -> Thing:
        async with limit:
            self._check_alive()
            is_known = self._copy.has(thing)
            headers = {
                "if-none-match": thing.etag if is_known else "",
                "if-modified-since": thing.modified if is_known else "",
            }
            given = {name: value for name, value in headers.items() if value}
            try:
                received = await self._client.get(thing.address, given, self._answers.wants(thing))
            except TransientError:
                self._failed += thing.as_page == self._number
                raise
            self._failed = 0
        return await self._answers.read(thing, received)

    def _check_alive(self) -> None:
        """Raise if the site does not want to be asked now, or is down.

        Raises:
            TransientError: it is so.
        """
        if self._client.is_sent_away:
            raise TransientError(self._client.is_sent_away)
        if self._failed >= _MOST_IN_A_ROW:
            raise TransientError(
                f"{self._scope.origin}: {self._failed} pages failed one after another; try again later"
            )

    async def _file(self, address: str) -> bytes | None:
        """A file that a script asks for."""
        if not await self._client.is_allowed(address):
            return None
        received = await self._client.get(address)
        return received.body if received.status == 200 else None

    async def _read_sitemaps(self) -> None:
        """Find the pages that sitemaps name: those that are declared, or that the site itself names.

        Raises:
            IntakeError, TransientError: one cannot be read, so that its pages would seem to be gone.
        """
        declared = self._options.sitemaps
        if declared is None:
            named = [each for each in map(whole, (await self._client.rules(self._scope.start)).sitemaps) if each]
            declared = tuple(named) or tuple(
                dict.fromkeys(f"{place}/sitemap.xml" for place in (self._scope.prefix[:-1], self._scope.origin))
            )
        pending, seen = list(declared), set(declared)
        while pending:
            address = pending.pop()
            if len(seen) > _MOST_SITEMAPS:
                raise IntakeError(f"{self._scope.start} has more than {_MOST_SITEMAPS:,} sitemaps")
            if not self._scope.is_same_site(address):
                continue
            received = await self._client.get(address)
            sitemap = read_sitemap(address, received.body) if received.status == 200 else None
            if sitemap is None:
                if self._options.sitemaps:
                    raise IntakeError(f"{address} is no sitemap (status {received.status}); change sitemaps")
                continue
            await self._find(filter(None, (whole(page, address) for page in sitemap.pages)), "page")
            further = {each for each in (whole(each, address) for each in sitemap.sitemaps) if each} - seen
            pending += sorted(further)
            seen |= further
