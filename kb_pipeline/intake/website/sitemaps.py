"""Reads sitemaps (sitemaps.org): lists of pages, lists of such lists, packed or not. Pure."""

import io
import zlib
from typing import NamedTuple

from lxml import etree

from kb_pipeline.errors import IntakeError

_GZIP = b"\x1f\x8b"
MOST_BYTES = 100_000_000
"""Bytes of a sitemap, unpacked; the standard says 50 MB."""


class Sitemap(NamedTuple):
    """The addresses of pages, and of other sitemaps."""

    pages: list[str]
    sitemaps: list[str]


def read_sitemap(address: str, data: bytes) -> Sitemap | None:
    """Read a sitemap; ``None`` if it is something else, such as a page that says that there is none.

    Raises:
        IntakeError: it is damaged or too large, so that some of its pages would be missing.
    """
    data = _unpacked(address, data)
    if lines := _lines(data):
        return Sitemap(lines, [])
    sitemap = Sitemap([], [])
    path: list[str] = []
    try:
        reader = etree.iterparse(
            io.BytesIO(data), events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for event, element in reader:
            name = etree.QName(element).localname
            if event == "start":
                path.append(name)
                if path[0] not in ("urlset", "sitemapindex"):
                    return None
                continue
            if path == ["urlset", "url", "loc"]:
                sitemap.pages.append((element.text or "").strip())
            elif path == ["sitemapindex", "sitemap", "loc"]:
                sitemap.sitemaps.append((element.text or "").strip())
            path.pop()
            if len(path) == 1:
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.XMLSyntaxError as exc:
        if not path or path[0] not in ("urlset", "sitemapindex"):
            return None
        raise IntakeError(
            f"the sitemap {address} is damaged ({exc.msg}), so pages would be missing; without it: sitemaps: []"
        ) from exc
    return sitemap


def _lines(data: bytes) -> list[str]:
    """The addresses of a sitemap that is plain text, one in each line; nothing if it is something else."""
    if not data.lstrip(b"\xef\xbb\xbf \r\n").startswith((b"http://", b"https://")):
        return []
    lines = list(filter(None, map(str.strip, data.decode("utf-8-sig", "replace").splitlines())))
    return lines if all(line.startswith(("http://", "https://")) for line in lines) else []


def _unpacked(address: str, data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        unpacked = unpack.decompress(data, MOST_BYTES + 1)
    except zlib.error as exc:
        raise IntakeError(f"the sitemap {address} is damaged ({exc})") from exc
    if len(unpacked) > MOST_BYTES:
        raise IntakeError(f"the sitemap {address} has more than {MOST_BYTES:,} bytes")
    if not unpack.eof:
        raise IntakeError(f"the sitemap {address} is cut short")
    return unpacked
