"""One crawl of a site into its copy: from its start and its sitemaps along all links below its prefix.

What is known is asked for with what the server said of its version then, so that it answers in a few bytes. An address
that fails keeps what is known of it, and is named; nothing of a site that fails as a whole is changed.
"""

import asyncio
import logging
import mimetypes
import posixpath
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from kb_pipeline.errors import (
    EmptyArticleError,
    IntakeError,
    KnowledgeBaseError,
    SettingsError,
    StorageError,
    TransientError,
)
from kb_pipeline.intake.website.addresses import Scope, whole
from kb_pipeline.intake.website.client import Client, Site
from kb_pipeline.intake.website.copy import Kind, Role, SiteCopy, Thing
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.intake.website.page import FACTS_VERSION, PageFacts, not_found_by, read_page
from kb_pipeline.intake.website.scripts import ScriptedPages, may_need_scripts
from kb_pipeline.intake.website.sitemaps import read_sitemap
from kb_pipeline.services.web.limited import REDIRECTS, Reads, Received
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.html.decode import decode, in_utf_8
from kb_pipeline.steps.main_file import INDEX_FILE, is_document
from kb_pipeline.store.files import settle

_log = logging.getLogger(__name__)
AT_ONCE = 4
_AT_A_TIME = 100
"""Addresses that are asked for between two commits; a kill costs so many again."""
_SETTLED = timedelta(seconds=2)
_REMEMBERED = 50_000
_MOST_IN_A_ROW = 20
"""Pages that failed one after another, after which a site is taken for being down."""
_LARGEST_PAGE = 20_000_000
_MOST_SITEMAPS = 1000
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
PDF = ".pdf"
_PDF = "application/pdf"
_NO_PAGES = frozenset({"image", "audio", "video", "font", "application"})
_TYPES = mimetypes.MimeTypes()
_FOR_GOOD = frozenset({301, 308})
_NO_PAGE = "kb-pipeline-asks-for-a-page-that-is-not-here"
NEEDS_SIGN_IN = "asks for a sign-in"
Progress = Callable[[int], None]


def document_name(address: str) -> str:
    """The name of the file at an address."""
    return unquote(posixpath.basename(urlsplit(address).path)).replace("/", "-").replace("\0", "")


class Crawl:
    """Crawls one site."""

    def __init__(self, options: WebsiteOptions, copy: SiteCopy, settings: Settings) -> None:
        self._options, self._copy, self._scope = options, copy, Scope(options.url)
        self._pictures_from = {self._scope.origin, *options.pictures_from}
        self._client = Client(Site(self._scope.origin, options.rate, AT_ONCE, options.allow_private), settings.attempts)
        self._number = self._failed = 0
        self._nothing = "unknown"
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
            self._nothing = await self._shown_for_nothing()
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
            await self._client.close()
        self._copy.end(self._number)

    async def _shown_for_nothing(self) -> str:
        """What the site shows for a page that it has not, where it does not say so by its status."""
        shown = []
        for address in (f"{self._scope.prefix}{_NO_PAGE}", self._scope.start):
            received = await self._client.get(address) if await self._client.is_allowed(address) else None
            if received is None or received.status != 200 or _type_of(received.headers)[0] not in _PAGES:
                return "unknown"
            with suppress(IntakeError):  # it is no page
                html = self._decoded(Thing(address, 0, 0), received, _type_of(received.headers)[1] or "")
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
        found = [(thing, await self._leads(thing)) for thing in things]
        self._check_alive()
        with self._copy.transaction():
            for thing, (pages, pictures) in found:
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
            is_one = self._scope.has(address) and (kind in _PAGES or (kind or "").split("/")[0] not in _NO_PAGES)
        return is_one and not self._options.leaves_out(self._scope.name(address))

    def _is_picture(self, address: str) -> bool:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}" in self._pictures_from

    async def _ask(self, thing: Thing, limit: asyncio.Semaphore) -> Thing:
        async with limit:
            self._check_alive()
            known = self._copy.has(thing)
            headers = {
                "if-none-match": thing.etag if known else "",
                "if-modified-since": thing.modified if known else "",
            }
            given = {name: value for name, value in headers.items() if value}
            try:
                received = await self._client.get(thing.address, given, self._wants(thing))
            except TransientError:
                self._failed += thing.as_page == self._number
                raise
            self._failed = 0
        return await self._answered(thing, received)

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

    def _wants(self, thing: Thing) -> Reads:
        return lambda status, headers: status == 200 and bool(self._kind(thing, headers))

    def _kind(self, thing: Thing, headers: Mapping[str, str]) -> Kind:
        """What is at an address, as the server says."""
        media_type = _type_of(headers)[0]
        if thing.as_page == self._number:
            if media_type in _PAGES:
                return "page"
            if self._options.documents and (media_type == _PDF or is_document(document_name(thing.address))):
                return "document"
        # what is no page is a picture where it is shown as one; its content tells, servers often do not know
        return "picture" if thing.as_picture == self._number and media_type not in _PAGES else ""

    async def _answered(self, thing: Thing, received: Received) -> Thing:
        """What is known of an address after an answer."""
        nothing = Thing(thing.address, thing.as_page, thing.as_picture, is_item=thing.is_item)
        status, headers = received.status, received.headers
        if status == 304 and thing.digest:
            return thing._replace(problem="", leads_to="")
        if status in REDIRECTS:
            return self._redirected(thing, nothing, status, headers.get("location", ""))
        if status in (401, 403, 407):
            return thing._replace(problem=f"{thing.address} {NEEDS_SIGN_IN} ({status})")
        if status in (404, 410):
            return nothing
        if status != 200:
            raise IntakeError(f"{thing.address} answered with status {status}")
        kind = self._kind(thing, headers)
        if not kind:
            if thing.is_item:
                raise IntakeError(f"{thing.address} is no page any more, but {_type_of(headers)[0] or 'nothing known'}")
            return nothing
        charset = _type_of(headers)[1] or ""
        etag, modified = _tokens(headers)
        content, facts = received.body, None
        if kind == "page":
            html = self._decoded(thing, received, charset)
            facts = self._facts(thing, html, headers)
            if self._scripts and may_need_scripts(html, facts.words):
                html = await self._scripts.draw(thing.address, html)
                facts = self._facts(thing, html, headers)
                # its scripts may change without it, so it is asked for as a whole each time
                content, charset, etag, modified = html.encode(), "", "", ""
            elif not facts.words and may_need_scripts(html, 0):
                raise IntakeError(f"{thing.address} shows nothing without its scripts; set KB_RENDER=chromium")
            if facts.shows == self._nothing:
                return nothing
            if facts.moved:
                return self._redirected(thing, nothing, status, facts.moved)
        elif kind == "document":
            facts = PageFacts(base=thing.address, no_index=not_found_by(headers.get("x-robots-tag", "")))
        is_same = facts and facts.content and facts.content == thing.read().content and self._copy.has(thing)
        digest, charset = (thing.digest, thing.charset) if is_same else (self._copy.keep(content), charset)
        return nothing._replace(
            kind=kind, digest=digest, charset=charset, etag=etag, modified=modified,
            facts=facts.model_dump_json(exclude_defaults=True) if facts else "",
            canonical=facts.canonical if facts and self._scope.has(facts.canonical) else "",
            verdict=thing.verdict if digest == thing.digest else "",
        )  # fmt: skip

    async def _file(self, address: str) -> bytes | None:
        """A file that a script asks for."""
        if not await self._client.is_allowed(address):
            return None
        received = await self._client.get(address)
        return received.body if received.status == 200 else None

    def _redirected(self, thing: Thing, nothing: Thing, status: int, location: str) -> Thing:
        target = whole(location, thing.address) if location else None
        if target in (None, thing.address):
            raise IntakeError(f"{thing.address} leads to {'itself' if target else 'nowhere'} (status {status})")
        is_for_now = thing.is_item and thing.as_page == self._number and status not in _FOR_GOOD
        if is_for_now and not self._is_page(target):
            # perhaps to sign in: the page may be as it was
            return thing._replace(problem=f"{thing.address} leads to {target} for now, which is not taken in")
        return (thing._replace(problem="") if is_for_now else nothing)._replace(leads_to=target)

    def _decoded(self, thing: Thing, received: Received, charset: str) -> str:
        if len(received.body) > _LARGEST_PAGE:
            size = f"{len(received.body):,} bytes"
            raise IntakeError(f"{thing.address} has {size}, of a page at most {_LARGEST_PAGE:,} are read")
        try:
            return decode(thing.address, in_utf_8(received.body, charset))
        except EmptyArticleError as exc:
            raise IntakeError(f"{thing.address} is empty") from exc  # servers in trouble answer so
        except KnowledgeBaseError as exc:
            raise IntakeError(str(exc).replace(INDEX_FILE, "it")) from exc

    def _facts(self, thing: Thing, html: str, headers: Mapping[str, str]) -> PageFacts:
        facts = read_page(thing.address, html, headers.get("x-robots-tag", ""))
        links = tuple(each for each in facts.links if self._scope.has(each) or self._scope.is_same_site(each))
        return facts.model_copy(update={"links": links})

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


def _type_of(headers: Mapping[str, str]) -> tuple[str, str | None]:
    """The media type and the charset of an answer; one without a type is taken for a page."""
    kind = Message()
    kind["content-type"] = headers.get("content-type") or "text/html"
    with suppress(ValueError, LookupError):
        return kind.get_content_type(), kind.get_content_charset()
    return "", None


def _tokens(headers: Mapping[str, str]) -> tuple[str, str]:
    """What the server says of a version; nothing if it was made a moment ago.

    Servers count in seconds: another version of the same second would have the same tokens (RFC 9110, section 8.8.2.2).
    """
    etag, modified = headers.get("etag", "")[:1000], headers.get("last-modified", "")[:100]
    try:
        age = parsedate_to_datetime(headers["date"]) - parsedate_to_datetime(modified) if modified else _SETTLED
    except (KeyError, ValueError, TypeError):
        return etag, modified
    return (etag, modified) if age >= _SETTLED else ("", "")
