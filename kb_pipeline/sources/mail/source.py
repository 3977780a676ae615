"""Mails: one message is one document, with its subject as the title and its pictures where they stand.

Who wrote it and when are facts of the document, and no text of it; nor are its greeting and its signature.
"""

import re
from collections.abc import Iterable
from email.utils import getaddresses
from html import escape
from importlib.metadata import version
from typing import ClassVar
from urllib.parse import unquote

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools
from kb_pipeline.sources.first_bytes import binary_kind_of
from kb_pipeline.sources.mail.message import Mail, MailAttachment, read_mail
from kb_pipeline.sources.mail.text import PlainBody, RichBody, framing, names_in
from kb_pipeline.sources.office import InsideImages

_CID = re.compile(r"""(\ssrc=)"cid:([^"]*)\"""", re.I)
_ADDRESS = re.compile(r"(\ssrc=\"[^\"]*\")|[\w.+'%=&-]+(@(?:[\w-]+\.)+[A-Za-z]{2,})")
_NAMED = re.compile(r"(?:^|\n)(?:From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version):", re.I)
_LOOKED_AT = 20_000
"""Bytes of the head, in which the fields stand that tell a message."""
_LONGEST = 300
"""Characters of a subject, and of the names of those who wrote."""
_MOST_NAMED = 20
"""Attached files that are named; of more, the others are counted."""


class MailSource(Source):
    """Reads what is common to all files with one mail."""

    version: ClassVar[str] = f"mail-3+markdown-it-py-{version('markdown-it-py')}"
    names_people: ClassVar[bool] = True

    def __init__(self, equipment: SourceTools | None = None) -> None:
        self._equipment = equipment or SourceTools()

    def equipped(self, equipment: SourceTools) -> Source:
        return type(self)(equipment)

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            mail = self.mail(name, data)
            document = _document(name, mail, masked=self._equipment.mask_addresses)
        except (UnreadableArticleError, EmptyArticleError) as exc:
            raise type(exc)(f"{article_id}: {exc}") from exc
        return document

    def mail(self, name: str, data: bytes) -> Mail:
        """Return the mail in a file.

        Raises:
            UnreadableArticleError: there is none.
        """
        if kind := binary_kind_of(data):
            raise UnreadableArticleError(f"{name} is {kind} under another name; rename it")
        head = data[:_LOOKED_AT].lstrip().decode("latin-1").replace("\r\n", "\n")
        if not head.strip("\x00"):
            raise EmptyArticleError(f"{name} is empty; stage the article again")
        if head.startswith("<"):
            raise UnreadableArticleError(f"{name} is a page of HTML or XML under another name; rename it")
        if not _NAMED.search(head.partition("\n\n")[0]):
            raise UnreadableArticleError(f"{name} is no mail: it begins with no sender, subject or date; save it again")
        try:
            return read_mail(data.lstrip())
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{name} cannot be read: {exc}; split it") from exc
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as exc:  # of email, for odd headers
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(f"{name} is damaged ({type(exc).__name__}: {reason}); save it again") from exc


def _document(name: str, mail: Mail, *, masked: bool) -> SourceDocument:
    images = InsideImages(name)
    by_cid = {each.cid: each for each in mail.attached if each.cid and each.is_picture}
    placed: set[str] = set()

    def place(match: re.Match[str]) -> str:
        if (found := by_cid.get(unquote(match[2])) or by_cid.get(match[2])) is None:
            return f'{match[1]}""'
        placed.add(found.cid)
        return f'{match[1]}"{escape(images.add(found.data, found.media_type))}"'

    text = _CID.sub(place, "\n".join(_told(mail)))
    others = [each for each in mail.attached if not (each.cid and each.cid in placed)]
    if not text and not others:
        raise EmptyArticleError(f"{name} holds no text and no file")
    title = f"<h1>{escape(mail.subject)}</h1>" if mail.subject else ""
    written = f"<html><body>{title}{text}{_attachments(others, images)}</body></html>"
    facts = DocumentFacts(
        author="" if masked else ", ".join(_people(mail.sender))[:_LONGEST],
        created=mail.date.isoformat(timespec="seconds") if mail.date else "",
    )
    return SourceDocument(
        _masked(written) if masked else written,
        title=_masked(mail.subject)[:_LONGEST] if masked else mail.subject[:_LONGEST],
        images=images.files,
        facts=None if facts == DocumentFacts() else facts,
    )


def _told(mail: Mail) -> Iterable[str]:
    """Each body of a mail as HTML, without what frames it."""
    for is_html, text in mail.bodies:
        body = RichBody(text) if is_html else PlainBody(text)
        if any(block.text.strip() for block in body.blocks) or "<img" in text.lower():
            yield body.html(framing(body.blocks, names_in(mail.sender), frozenset(), frozenset()))


def _attachments(attached: list[MailAttachment], images: InsideImages) -> str:
    """Name the files of a mail, and show its pictures."""
    if not attached:
        return ""
    named = "".join(f"<li>{escape(each.name)}</li>" for each in attached[:_MOST_NAMED])
    more = f"<li>{len(attached) - _MOST_NAMED:,} more</li>" if len(attached) > _MOST_NAMED else ""
    shown = "".join(
        f'<p><img src="{escape(images.add(each.data, each.media_type))}" alt="{escape(each.name)}"></p>'
        for each in attached
        if each.is_picture
    )
    return f"<h2>Attachments</h2><ul>{named}{more}</ul>{shown}"


def _people(header: str) -> list[str]:
    return [name or address for name, address in getaddresses([header]) if name or address]


def _masked(text: str) -> str:
    return _ADDRESS.sub(lambda found: found[1] or f"***{found[2]}", text)  # names of pictures stay
