"""What a server's answer says of an address: what is there, in which version, where it leads, and what is wrong."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from email.message import Message
from email.utils import parsedate_to_datetime

from kb_pipeline.errors import EmptyArticleError, IntakeError, KnowledgeBaseError
from kb_pipeline.intake.website.addresses import SiteScope, document_name, whole
from kb_pipeline.intake.website.copy import Kind, SiteCopy, Thing
from kb_pipeline.intake.website.page import PageFacts, not_found_by, read_page
from kb_pipeline.intake.website.scripts import ScriptedPages, may_need_scripts
from kb_pipeline.services.web.limited import REDIRECTS, Reads, Received
from kb_pipeline.steps.html.decode import decode, in_utf_8
from kb_pipeline.steps.main_file import is_document

PDF = ".pdf"
_PDF = "application/pdf"
_SETTLED = timedelta(seconds=2)
"""A page that was changed in this second may be changed again in it, and look the same by its time."""
_LARGEST_PAGE = 20_000_000
"""Bytes of a page: its tree takes many times as much memory."""
PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages."""
_FOR_GOOD = frozenset({301, 308})  # RFC 9110: moved permanently
NEEDS_SIGN_IN = "asks for a sign-in"


class Answers:
    """Reads the answers of one crawl of the number ``crawl``.

    ``is_page`` says which addresses are asked for as pages; ``shown_for_nothing`` what the site shows for a page that
    it has not, see :attr:`PageFacts.shows`.
    """

    def __init__(
        self,
        copy: SiteCopy,
        scope: SiteScope,
        crawl: int,
        is_page: Callable[[str], bool],
        scripts: ScriptedPages | None,
        *,
        takes_documents: bool,
        shown_for_nothing: str,
    ) -> None:
        self._copy, self._scope, self._number, self._is_page = copy, scope, crawl, is_page
        self._scripts, self._takes_documents, self._nothing = scripts, takes_documents, shown_for_nothing

    def wants(self, thing: Thing) -> Reads:
        """Which bodies are read of answers for an address."""
        return lambda status, headers: status == 200 and bool(self._kind(thing, headers))

    def _kind(self, thing: Thing, headers: Mapping[str, str]) -> Kind:
        """What is at an address, as the server says."""
        media_type = type_of(headers)[0]
        if thing.as_page == self._number:
            if media_type in PAGES:
                return "page"
            if self._takes_documents and (media_type == _PDF or is_document(document_name(thing.address))):
                return "document"
        # what is no page is a picture where it is shown as one; its content tells, servers often do not know
        return "picture" if thing.as_picture == self._number and media_type not in PAGES else ""

    async def read(self, thing: Thing, received: Received) -> Thing:
        """What is known of an address after an answer.

        Raises:
            IntakeError: it cannot be used; what was known before stays.
        """
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
                raise IntakeError(f"{thing.address} is no page any more, but {type_of(headers)[0] or 'nothing known'}")
            return nothing
        charset = type_of(headers)[1] or ""
        etag, modified = _tokens(headers)
        content, facts = received.body, None
        if kind == "page":
            html = decoded(thing.address, received)
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

    def _redirected(self, thing: Thing, nothing: Thing, status: int, location: str) -> Thing:
        target = whole(location, thing.address) if location else None
        if target in (None, thing.address):
            raise IntakeError(f"{thing.address} leads to {'itself' if target else 'nowhere'} (status {status})")
        is_for_now = thing.is_item and thing.as_page == self._number and status not in _FOR_GOOD
        if is_for_now and not self._is_page(target):
            # perhaps to sign in: the page may be as it was
            return thing._replace(problem=f"{thing.address} leads to {target} for now, which is not taken in")
        return (thing._replace(problem="") if is_for_now else nothing)._replace(leads_to=target)

    def _facts(self, thing: Thing, html: str, headers: Mapping[str, str]) -> PageFacts:
        facts = read_page(thing.address, html, headers.get("x-robots-tag", ""))
        links = tuple(each for each in facts.links if self._scope.has(each) or self._scope.is_same_site(each))
        return facts.model_copy(update={"links": links})


def decoded(address: str, received: Received) -> str:
    """The page of an answer.

    Raises:
        IntakeError: it is none, or too large.
    """
    if len(received.body) > _LARGEST_PAGE:
        size = f"{len(received.body):,} bytes"
        raise IntakeError(f"{address} has {size}, of a page at most {_LARGEST_PAGE:,} are read")
    try:
        return decode(address, in_utf_8(received.body, type_of(received.headers)[1]))
    except EmptyArticleError as exc:
        raise IntakeError(f"{address} is empty") from exc  # servers in trouble answer so
    except KnowledgeBaseError as exc:
        raise IntakeError(str(exc)) from exc


def type_of(headers: Mapping[str, str]) -> tuple[str, str | None]:
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
