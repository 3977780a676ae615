"""Says where the addresses in one page of a SharePoint site lead, and brings the pictures that it shows."""

import posixpath
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urljoin, urlsplit

from kb_pipeline.intake.base import ArticleOf
from kb_pipeline.intake.service import DeniedError
from kb_pipeline.intake.sharepoint.libraries import File
from kb_pipeline.steps.formats import is_picture, may_be_picture
from kb_pipeline.steps.html.images import Stems


class PageSite(Protocol):
    """What a page asks of its site."""

    def article_at(self, address: str, article_of: ArticleOf) -> str | None:
        """The page or document of the article that an address leads to, seen from another article."""

    def file_at(self, address: str) -> File | None:
        """The file at an address."""

    def may_see(self, file: File | None, picture: File) -> bool:
        """Whether all who may read a file or page may also see a picture."""

    def version(self, item: str) -> str:
        """A text that changes with a picture, and with who may see it."""

    def content(self, file: File) -> bytes:
        """What is in a file."""


class SharedPage:
    """What one page, at an ``address``, shows and leads to. ``file`` is where SharePoint keeps it."""

    def __init__(self, site: PageSite, address: str, file: File | None, article_of: ArticleOf) -> None:
        self.files: dict[str, bytes | Path] = {}
        self.parts: dict[str, str] = {}
        self._site, self._address, self._file, self._article_of = site, address, file, article_of
        self._placed: dict[str, str | None] = {}
        self._stems = Stems()

    def link(self, address: str) -> str | None:
        """Where a link leads: to an article, or to where it led in SharePoint."""
        whole = self._whole(address)
        if address.startswith("#") or whole is None:
            return None
        fragment = urlsplit(whole).fragment
        found = self._site.article_at(whole, self._article_of)
        return (f"{found}#{fragment}" if fragment else found) if found else whole

    def picture(self, address: str) -> str | None:
        """The file of a picture; ``None`` if it is none of this site, or not all readers of the page may see it."""
        whole = self._whole(address)
        picture = self._site.file_at(whole) if whole else None
        if picture is None or not may_be_picture(picture.path):
            return None
        if picture.item not in self._placed:
            self.parts[picture.item] = self._site.version(picture.item)
            self._placed[picture.item] = self._place(picture)
        return self._placed[picture.item]

    def _place(self, picture: File) -> str | None:
        if not self._site.may_see(self._file, picture):
            return None
        try:
            data = self._site.content(picture)
        except DeniedError:
            return None
        ending = posixpath.splitext(picture.path)[1].lower() if is_picture(picture.path) else ".image"
        file = self._stems.take(picture.path) + ending
        self.files[file] = data
        return quote(file)

    def _whole(self, address: str) -> str | None:
        try:
            whole = urljoin(self._address, address)
            return whole if urlsplit(whole).hostname else None
        except ValueError:
            return None
