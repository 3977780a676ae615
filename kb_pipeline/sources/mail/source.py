"""Mails: one message is one document, with its subject as the title and its pictures where they stand.

Here: files in the form in which mail travels (RFC 5322), read by Python's own ``email``, and what the files of Outlook
share with them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses
from html import escape
from importlib.metadata import version
from typing import ClassVar, NamedTuple
from urllib.parse import unquote

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools
from kb_pipeline.sources.first_bytes import binary_kind_of
from kb_pipeline.sources.office import InsideImages
from kb_pipeline.sources.plain_text import text_html
from kb_pipeline.steps.html.decode import to_text

_CID = re.compile(r"""(\ssrc\s*=\s*)(?:"cid:([^"]*)"|'cid:([^']*)'|cid:([^\s>]+))""", re.I)
_BODY = re.compile(r"<body\b[^>]*>", re.I)
_ADDRESS = re.compile(r"(\ssrc=\"[^\"]*\")|[\w.+'%=&-]+(@(?:[\w-]+\.)+[A-Za-z]{2,})")
_NAMED = re.compile(r"(?:^|\n)(?:From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version):", re.I)
_TEXT = re.compile(r"[^\W_]")
_LOOKED_AT = 20_000
"""Bytes of the head, in which the fields stand that tell a message."""
_LONGEST = 300
"""Characters of a subject, and of the names of those who wrote."""
_MOST_PARTS = 1_000
"""Parts of a message; a thread of hundreds of pictures has fewer."""
_MOST_NAMED = 20
"""Attached files that are named; of more, the others are counted."""


class MailAttachment(NamedTuple):
    """A file in a mail; ``cid`` is the name by which its text refers to it."""

    name: str
    media_type: str
    data: bytes
    cid: str = ""

    @property
    def is_picture(self) -> bool:
        """Whether it is shown, and not only named."""
        return self.media_type.startswith("image/") and bool(self.data)


@dataclass(frozen=True)
class Mail:
    """A mail, however it was stored. ``sender`` and the people in ``to`` are named with their addresses."""

    subject: str = ""
    date: datetime | None = None
    sender: str = ""
    to: tuple[str, ...] = ()
    html: str = ""
    text: str = ""
    attached: tuple[MailAttachment, ...] = field(default=())


class MailSource(Source):
    """Reads what is common to all files with one mail."""

    version: ClassVar[str] = f"mail-1+markdown-it-py-{version('markdown-it-py')}"
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
            return _read(name, BytesParser(policy=policy.default).parsebytes(data.lstrip()))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as exc:  # of email, for odd headers
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(f"{name} is damaged ({type(exc).__name__}: {reason}); save it again") from exc


def _read(name_of_file: str, message: EmailMessage) -> Mail:
    bodies: dict[str, str] = {}
    attached: list[MailAttachment] = []
    for number, part in enumerate(_parts(message)):
        if number > _MOST_PARTS:
            raise UnreadableArticleError(f"{name_of_file} has more than {_MOST_PARTS:,} parts; split it")
        kind, name = part.get_content_type(), part.get_filename() or ""
        is_body = kind in ("text/plain", "text/html") and not name and part.get_content_disposition() != "attachment"
        if kind == "message/rfc822":
            attached.append(MailAttachment(name or _subject_of(part) or "mail", kind, b""))
        elif is_body:
            bodies[kind] = "\n".join(filter(None, (bodies.get(kind, ""), _text_of(part))))
        else:
            cid = str(part.get("Content-ID") or "").strip().strip("<>")
            data = part.get_payload(decode=True)
            attached.append(MailAttachment(name or kind, kind, data if isinstance(data, bytes) else b"", cid))
    date = message["Date"].datetime if message["Date"] else None
    return Mail(
        _header(message, "Subject"),
        date,
        _header(message, "From"),
        tuple(filter(None, (_header(message, "To"), _header(message, "Cc")))),
        bodies.get("text/html", ""),
        bodies.get("text/plain", ""),
        tuple(attached),
    )


def _parts(message: EmailMessage) -> Iterable[EmailMessage]:
    """Yield the parts of a mail, and none of those of mails inside of it."""
    waiting = [message]
    while waiting:
        part = waiting.pop(0)
        if part.get_content_maintype() == "multipart":
            waiting[:0] = [each for each in part.iter_parts() if isinstance(each, EmailMessage)]
        else:
            yield part


def _subject_of(part: EmailMessage) -> str:
    inner = next((each for each in part.iter_parts() if isinstance(each, EmailMessage)), None)
    return _header(inner, "Subject") if inner is not None else ""


def _text_of(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else b""
    charset = part.get_content_charset()
    try:
        return raw.decode(charset) if charset else to_text(raw)
    except (LookupError, ValueError):
        return to_text(raw)


def _header(message: EmailMessage, name: str) -> str:
    return _line(str(message[name] or ""))


def _line(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())


def _document(name: str, mail: Mail, *, masked: bool) -> SourceDocument:
    images = InsideImages(name)
    by_cid = {each.cid: each for each in mail.attached if each.cid and each.is_picture}
    placed: set[str] = set()

    def place(match: re.Match[str]) -> str:
        cid = unquote(match[2] or match[3] or match[4] or "")
        if (found := by_cid.get(cid) or by_cid.get(match[2] or "")) is None:
            return f'{match[1]}""'
        placed.add(found.cid)
        return f'{match[1]}"{escape(images.add(found.data, found.media_type))}"'

    html = _CID.sub(place, mail.html) if _TEXT.search(re.sub(r"<[^>]*>", "", mail.html)) or by_cid else ""
    html = html if html.strip() else text_html(mail.text) if mail.text.strip() else ""
    if not html and not mail.attached:
        raise EmptyArticleError(f"{name} holds no text and no file")
    others = [each for each in mail.attached if not (each.cid and each.cid in placed)]
    begin = _BODY.search(html)
    at = begin.end() if begin else 0
    end = at + (html[at:].lower().rfind("</body") if "</body" in html[at:].lower() else len(html) - at)
    written = f"{html[:at]}{_head(mail, masked=masked)}{html[at:end]}{_attachments(others, images)}"
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


def _head(mail: Mail, *, masked: bool) -> str:
    """Say what the mail is about, when it was sent, and between whom."""
    lines: Mapping[str, str] = {
        "Date": mail.date.strftime("%Y-%m-%d %H:%M") if mail.date else "",
        "From": "" if masked else _shown(mail.sender),
        "To": "" if masked else ", ".join(map(_shown, mail.to)),
    }
    said = "<br>".join(f"{label}: {escape(value)}" for label, value in lines.items() if value)
    return (f"<h1>{escape(mail.subject)}</h1>" if mail.subject else "") + (f"<p>{said}</p>" if said else "")


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


def _shown(header: str) -> str:
    """People with their addresses; some programs write an address as the name, too."""
    people = getaddresses([header])
    if not any(address for _, address in people):
        return header
    return ", ".join(
        f"{name} <{address}>" if name and address and name.casefold() != address.casefold() else name or address
        for name, address in people
    )


def _masked(text: str) -> str:
    return _ADDRESS.sub(lambda found: found[1] or f"***{found[2]}", text)  # names of pictures stay
