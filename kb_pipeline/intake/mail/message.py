"""Takes a message apart: what is to be read, its pictures, and the files that are attached to it."""

import email
import email.policy
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import Message

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.mail.folder import plain
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.html.images import safe_stem

_MOST_PARTS = 1000
"""Parts of a message; a thread of hundreds of pictures has fewer."""
_PICTURES = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
    "image/tiff": ".tif", "image/svg+xml": ".svg",
}  # fmt: skip
_SIGNATURES = ("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature")


@dataclass(frozen=True)
class AttachedFile:
    """A file in a message. ``address`` is how HTML in it shows it; ``is_attached`` says that people chose to add it."""

    name: str
    data: bytes
    digest: str
    kind: str
    address: str = ""
    is_attached: bool = False

    @property
    def ending(self) -> str:
        """The ending of its name."""
        return _PICTURES.get(self.kind) or posixpath.splitext(self.name)[1].lower()

    @property
    def title(self) -> str:
        """Its name without the ending."""
        return posixpath.splitext(self.name)[0]

    @property
    def file(self) -> str:
        """A name that every file system accepts."""
        return f"{safe_stem(self.name)}{self.ending}"

    def without_data(self) -> "AttachedFile":
        """What is known of it."""
        return replace(self, data=b"")


@dataclass(frozen=True)
class MessageContent:
    """What is in a message. Each of the ``bodies`` is HTML or not."""

    bodies: tuple[tuple[bool, str], ...]
    pictures: tuple[AttachedFile, ...]
    files: tuple[AttachedFile, ...]


def read_message(data: bytes) -> MessageContent:
    """Take a message apart.

    Raises:
        IntakeError: it is nested too deeply, or has too many parts.
    """
    try:
        message = email.message_from_bytes(data, policy=email.policy.compat32)
        leaves = list(_leaves(message))
        bodies = tuple(_bodies(message))
    except RecursionError as exc:
        raise IntakeError("a message is nested too deeply") from exc
    attached = [_attached(part) for part in leaves if not _is_text(part) and part.get_content_type() not in _SIGNATURES]
    return MessageContent(
        bodies,
        tuple(each for each in attached if each.data and each.kind in _PICTURES),
        tuple(each for each in attached if each.data and each.kind not in _PICTURES),
    )


def _leaves(message: Message) -> Iterator[Message]:
    for number, part in enumerate(message.walk()):
        if number > _MOST_PARTS:
            raise IntakeError(f"a message has more than {_MOST_PARTS:,} parts")
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
            ways = [way for way in ways if any(text.strip() for _, text in way)][-1:]
        for way in ways:
            yield from way
    elif _is_text(part):
        yield part.get_content_type() == "text/html", _text(part)


def _text(part: Message) -> str:
    data = _data(part)
    for encoding in (part.get_content_charset(), "utf-8", "cp1252"):
        try:
            return data.decode(encoding or "utf-8")
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")


def _data(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except ValueError:
        return b""
    return data if isinstance(data, bytes) else b""


def _attached(part: Message) -> AttachedFile:
    data, kind = _data(part), part.get_content_type()
    try:
        named = part.get_filename()
    except (LookupError, ValueError):
        named = None
    holder = Message()
    holder["Name"] = posixpath.basename((named or "").replace("\\", "/"))
    name = plain(holder, "Name") or f"attachment{_PICTURES.get(kind, '')}"
    identifier = str(part["Content-ID"] or "").strip().strip("<>")
    return AttachedFile(
        name=name,
        data=data,
        digest=sha256(data)[:16],
        kind=kind,
        address=f"cid:{identifier}" if identifier else "",
        is_attached=part.get_content_disposition() == "attachment" or not identifier,
    )
