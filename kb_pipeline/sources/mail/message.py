"""Takes a message in the form in which mail travels (RFC 5322) apart: its head, what is to be read, and its files.

Read by Python's own ``email``, whose older policy takes every malformed head; both a single mail and a mailbox are read
here.
"""

import email
import email.header
import email.policy
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from html import escape

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.html.decode import to_text
from kb_pipeline.steps.html.images import safe_stem

_MOST_PARTS = 1000
"""Parts of a message; a thread of hundreds of pictures has fewer."""
_PICTURES = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
    "image/tiff": ".tif", "image/svg+xml": ".svg",
}  # fmt: skip
_SIGNATURES = ("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature")
_TAGS = re.compile(r"<[^<>]*>")
_TOLD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class MailAttachment:
    """A file in a mail; ``cid`` is the name by which its text shows it, ``is_attached``: people chose to add it."""

    name: str
    media_type: str
    data: bytes
    cid: str = ""
    is_attached: bool = True

    @property
    def is_picture(self) -> bool:
        """Whether it is shown, and not only named."""
        return self.media_type in _PICTURES and bool(self.data)

    @property
    def digest(self) -> str:
        """Names its content."""
        return sha256(self.data)[:16]

    @property
    def ending(self) -> str:
        """The ending of its name."""
        return _PICTURES.get(self.media_type) or posixpath.splitext(self.name)[1].lower()

    @property
    def title(self) -> str:
        """Its name without the ending."""
        return posixpath.splitext(self.name)[0]

    @property
    def file(self) -> str:
        """A name that every file system accepts."""
        return f"{safe_stem(self.name)}{self.ending}"


@dataclass(frozen=True)
class Mail:
    """A mail, however it was stored. ``sender`` is named with the address. Each of the ``bodies`` is HTML or not."""

    subject: str = ""
    date: datetime | None = None
    sender: str = ""
    bodies: tuple[tuple[bool, str], ...] = ()
    attached: tuple[MailAttachment, ...] = ()


def read_mail(data: bytes) -> Mail:
    """Take a message apart. A mail inside of it is read as a part of it, below its subject.

    Raises:
        UnreadableArticleError: it is nested too deeply, or has too many parts.
    """
    try:
        message = email.message_from_bytes(data, policy=email.policy.compat32)
        leaves = list(_leaves(message))
        bodies = tuple(_bodies(message))
    except RecursionError as exc:
        raise UnreadableArticleError("a message is nested too deeply") from exc
    files = [_attached(part) for part in leaves if not _is_text(part) and part.get_content_type() not in _SIGNATURES]
    return Mail(
        header(message, "Subject"),
        date_of(header(message, "Date")),
        header(message, "From"),
        bodies,
        tuple(each for each in files if each.data),
    )


def header(message: Message, name: str) -> str:
    """A header on one line, decoded, also if it is malformed."""
    value = message.get(name)
    if value is None:
        return ""
    try:
        text = str(email.header.make_header(email.header.decode_header(str(value))))
    except (LookupError, ValueError):  # an unknown encoding, or none
        text = str(value)
    try:
        # bytes that no encoding was named for
        text = text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        text = text.encode("utf-8", "surrogateescape").decode("latin-1")
    return " ".join(text.replace("\x00", "").split())


def date_of(text: str) -> datetime | None:
    """The date that a head says; without a zone it is taken for UTC."""
    try:
        date = parsedate_to_datetime(text)
        date.astimezone(UTC)  # not every date is one everywhere
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _leaves(message: Message) -> Iterator[Message]:
    for number, part in enumerate(message.walk()):
        if number > _MOST_PARTS:
            raise UnreadableArticleError(f"a message has more than {_MOST_PARTS:,} parts")
        if not part.is_multipart():
            yield part


def _is_text(part: Message) -> bool:
    """Whether a part is for reading: text that nobody attached as a file."""
    return (
        part.get_content_type() in ("text/plain", "text/html")
        and part.get_content_disposition() != "attachment"
        and not part.get_filename()
    )


def _bodies(part: Message) -> Iterator[tuple[bool, str]]:
    inner = part.get_payload() if part.is_multipart() else None
    if isinstance(inner, list):
        ways = [list(_bodies(each)) for each in inner if isinstance(each, Message)]
        if part.get_content_type() == "multipart/alternative":
            # the same several times, the best one last
            ways = [way for way in ways if any(_tells(*body) for body in way)][-1:]
        if part.get_content_maintype() == "message":
            subjects = (header(each, "Subject") for each in inner if isinstance(each, Message))
            yield from ((True, f"<h3>{escape(subject)}</h3>") for subject in subjects if subject)
        for way in ways:
            yield from way
    elif _is_text(part):
        yield part.get_content_type() == "text/html", _text(part)


def _tells(is_html: bool, text: str) -> bool:
    """Whether a body has words, or a picture."""
    return bool(_TOLD.search(_TAGS.sub("", text) if is_html else text)) or (is_html and "<img" in text.lower())


def _text(part: Message) -> str:
    data, charset = _data(part), part.get_content_charset()
    try:
        return data.decode(charset) if charset else to_text(data)
    except (LookupError, ValueError):  # an unknown encoding, or another one than it says
        return to_text(data)


def _data(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except ValueError:
        return b""
    return data if isinstance(data, bytes) else b""


def _attached(part: Message) -> MailAttachment:
    kind = part.get_content_type()
    try:
        named = part.get_filename()
    except (LookupError, ValueError):
        named = None
    holder = Message()
    holder["Name"] = posixpath.basename((named or "").replace("\\", "/"))
    cid = str(part["Content-ID"] or "").strip().strip("<>")
    return MailAttachment(
        header(holder, "Name") or f"attachment{_PICTURES.get(kind, '')}",
        kind,
        _data(part),
        cid,
        part.get_content_disposition() == "attachment" or not cid,
    )
