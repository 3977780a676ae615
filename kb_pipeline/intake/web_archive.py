"""Web archives (MHTML, RFC 2557): a page with its pictures in one file, as browsers and Confluence save it."""

import email
import email.policy
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urljoin

from kb_pipeline.errors import IntakeError

_MOST_PARTS = 10_000
"""Files of a saved page; a page of thousands of pictures has fewer."""


@dataclass(frozen=True)
class WebArchive:
    """The page, where it was saved from, and its other parts by address."""

    page: bytes
    link: str
    parts: Mapping[str, bytes]

    def picture(self, address: str) -> bytes | None:
        """The picture that has this address in the page."""
        picture = self.parts.get(address)
        return self.parts.get(urljoin(self.link, address)) if picture is None else picture


def read_web_archive(name: str, data: bytes) -> WebArchive:
    """Read a web archive.

    Raises:
        IntakeError: there is no page in it.
    """
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    page: Message | None = None
    parts: dict[str, bytes] = {}
    for number, part in enumerate(message.walk()):
        if number > _MOST_PARTS:
            raise IntakeError(f"{name} has more than {_MOST_PARTS:,} parts")
        if part.is_multipart():
            continue
        if page is None and part.get_content_type() in ("text/html", "application/xhtml+xml"):
            page = part
            continue
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes) or part.get_content_maintype() != "image":
            continue
        if location := part["Content-Location"]:
            parts["".join(str(location).split())] = content
        if identifier := part["Content-ID"]:
            parts[f"cid:{str(identifier).strip().strip('<>')}"] = content
    content = page.get_payload(decode=True) if page else None
    if page is None or not isinstance(content, bytes):
        raise IntakeError(f"{name} is no web archive with a page in it; save it again, or as a page")
    link = "".join(str(page["Content-Location"] or message["Snapshot-Content-Location"] or "").split())
    return WebArchive(content, link if link.startswith(("http://", "https://")) else "", parts)
