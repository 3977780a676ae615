"""Mails as Outlook saves them (MS-OXMSG), read by python-oxmsg."""

import mimetypes
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from kb_pipeline.errors import EmptyArticleError, MissingExtraError, UnreadableArticleError
from kb_pipeline.sources.first_bytes import kind_of
from kb_pipeline.sources.mail.message import Mail, MailAttachment
from kb_pipeline.sources.mail.source import MailSource
from kb_pipeline.steps.html.decode import to_text

_OLE = b"\xd0\xcf\x11\xe0"
_HTML, _DISPLAY_NAME, _CONTENT_ID = 0x1013, 0x3001, 0x3712
"""Numbers of properties (MS-OXPROPS)."""


def _library() -> str:
    try:
        return version("python-oxmsg")
    except PackageNotFoundError:
        return "none"


class OutlookSource(MailSource):
    """Reads the files of Outlook with one mail."""

    version: ClassVar[str] = f"outlook-3+python-oxmsg-{_library()}"

    def mail(self, name: str, data: bytes) -> Mail:
        if not data.strip():
            raise EmptyArticleError(f"{name} is empty; stage the article again")
        if not data.startswith(_OLE):
            kind = kind_of(data) or "another kind of file"
            raise UnreadableArticleError(f"{name} is {kind} under another name; rename it")
        try:
            from oxmsg import Message
        except ImportError as exc:
            raise UnreadableArticleError(str(MissingExtraError(name, "formats"))) from exc
        try:
            return _read(Message.load(data))
        except Exception as exc:  # python-oxmsg and olefile raise whatever a damaged file leads to
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(
                f"{name} is damaged or no mail ({type(exc).__name__}: {reason}); save it in Outlook again"
            ) from exc


def _read(message: Any) -> Mail:  # noqa: ANN401 - python-oxmsg's message
    page = _html(message)
    return Mail(
        " ".join(message.subject.replace("\x00", "").split()),
        message.sent_date,
        " ".join((message.sender or "").split()),
        ((True, page) if page.strip() else (False, message.body or ""),),
        tuple(map(_attached, message.attachments)),
    )


def _html(message: Any) -> str:  # noqa: ANN401
    """Return the body as HTML; some mails say another encoding than they have."""
    try:
        return message.html_body or ""
    except (LookupError, ValueError):
        return to_text(message.properties.binary_prop_value(_HTML) or b"")


def _attached(attachment: Any) -> MailAttachment:  # noqa: ANN401
    """Return a file of a mail; a mail in it has no bytes of its own."""
    properties = attachment.properties
    name = attachment.file_name or properties.str_prop_value(_DISPLAY_NAME) or "file"
    kind = mimetypes.guess_type(name)[0] or attachment.mime_type or ""
    cid = (properties.str_prop_value(_CONTENT_ID) or "").strip().strip("<>")
    return MailAttachment(name.replace("\x00", ""), kind, attachment.file_bytes or b"", cid)
