"""A single picture as an article: what OCR reads on it, and the picture itself. Its title is what it says of itself."""

import io
import posixpath
import warnings
from html import escape
from importlib.metadata import version
from typing import ClassVar
from urllib.parse import quote

from PIL import ExifTags, Image

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.first_bytes import kind_of

_READ = ("PNG", "JPEG", "WEBP", "GIF", "TIFF")
_TITLES = ("Title", "title", "Description", "ImageDescription")
_LONGEST = 300
"""Characters of a title, an author or a description that the file claims."""


class PictureSource(Source):
    """Reads pictures. What they show is described as that of all pictures is."""

    version: ClassVar[str] = f"picture-1+pillow-{version('pillow')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        if not data.strip(b"\x00 \n\r\t"):
            raise EmptyArticleError(f"{article_id}: {name} is empty; stage it again")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of large pictures, which are refused later, and of odd metadata
                with Image.open(io.BytesIO(data), formats=_READ) as picture:
                    said, exif = dict(picture.info), picture.getexif()
        except Exception as exc:  # Pillow raises whatever a damaged header leads to
            kind = kind_of(data)
            is_other = kind and not kind.endswith(" image")
            what = f"{kind} under another name; rename it" if is_other else "a damaged picture or none; save it again"
            raise UnreadableArticleError(f"{article_id}: {name} is {what}") from exc
        named = [said.get(key) for key in _TITLES] + [exif.get(ExifTags.Base.ImageDescription)]
        title = next((_text(value) for value in named if _text(value)), "") or posixpath.splitext(name)[0]
        facts = DocumentFacts(author=_text(exif.get(ExifTags.Base.Artist) or said.get("Author")), created=_date(exif))
        return SourceDocument(
            f'<html><body><p><img src="{escape(quote(name))}" alt="{escape(title)}"></p></body></html>',
            title=title,
            facts=None if facts == DocumentFacts() else facts,
        )


def _text(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return " ".join(text.replace("\x00", " ").split())[:_LONGEST] if isinstance(text, str) else ""


def _date(exif: Image.Exif) -> str:
    """When the picture was made: ``2026:11:27 10:00:00`` in its own notation."""
    day = _text(exif.get(ExifTags.Base.DateTime))[:10].replace(":", "-")
    return day if len(day) == len("2026-11-27") and day.replace("-", "").isdecimal() else ""
