"""EPUB books (EPUB 2 and 3), read by pandoc: their chapters in order."""

import io
import re
import zipfile
from typing import ClassVar

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.office import DAMAGED
from kb_pipeline.sources.pandoc.source import PandocSource

_MAIN, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_ALGORITHM = re.compile(rb"EncryptionMethod\s[^>]*Algorithm\s*=\s*[\"']([^\"']*)")
_FONTS = frozenset({b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC"})
"""Methods that only mangle fonts."""


class EpubSource(PandocSource):
    """Reads EPUB books."""

    reader: ClassVar[str] = "epub"
    shows_title: ClassVar[bool] = False
    names_languages: ClassVar[bool] = False

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        check_container(name, data, _MAIN)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as container:
                methods = _ALGORITHM.findall(container.read(_ENCRYPTION)) if _has(container, _ENCRYPTION) else []
        except DAMAGED as exc:
            raise UnreadableArticleError(f"{name} is damaged ({exc}); export it again") from exc
        if not _FONTS.issuperset(methods):
            raise UnreadableArticleError(f"{name} is protected against copying, so nobody can read it here")
        return data, ()


def _has(container: zipfile.ZipFile, entry: str) -> bool:
    return entry in container.namelist()
