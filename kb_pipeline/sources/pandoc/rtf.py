"""RTF documents, read by pandoc."""

from typing import ClassVar

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.first_bytes import kind_of
from kb_pipeline.sources.pandoc.source import PandocSource

_BEGINNING = b"{\\rtf"


class RtfSource(PandocSource):
    """Reads RTF documents."""

    reader: ClassVar[str] = "rtf"
    shows_title: ClassVar[bool] = False

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        data = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not data.startswith(_BEGINNING):
            raise UnreadableArticleError(
                f"{name} is {kind_of(data) or 'another kind of file'} under another name; rename it, or save it again"
            )
        return data, ()
