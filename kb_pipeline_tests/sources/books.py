"""Makes OpenDocument texts, EPUB books and notebooks."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence

_SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office",
        "text": "text",
        "style": "style",
        "table": "table",
        "draw": "drawing",
        "meta": "meta",
        "svg": "svg-compatible",
        "fo": "xsl-fo-compatible",
    }.items()
)
_NAMES = f'{_SPACES} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
_ODT = "application/vnd.oasis.opendocument.text"


def open_document(
    body: str,
    *,
    styles: str = "",
    meta: str = "",
    files: Mapping[str, bytes] = {},
    kind: str = _ODT,
    before: str = "",
) -> bytes:
    """Make an OpenDocument text from the XML of its body; ``styles`` are automatic ones."""
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}<office:document-content {_NAMES} office:version="1.2">'
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    about = f"<office:document-meta {_NAMES}><office:meta>{meta}</office:meta></office:document-meta>"
    named = "".join(f'<style:style style:name="{name}" style:family="paragraph"/>' for name in _KNOWN)
    common = f"<office:document-styles {_NAMES}><office:styles>{named}</office:styles></office:document-styles>"
    entries: dict[str, bytes | str] = {"mimetype": kind, "content.xml": content, "styles.xml": common}
    return zipped(entries | {"meta.xml": about} | dict(files))


_KNOWN = ("Standard", "Title", "Preformatted_20_Text")


def zipped(entries: Mapping[str, bytes | str]) -> bytes:
    """Make a ZIP archive."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return written.getvalue()


def book(chapters: Mapping[str, str], *, title: str = "", files: Mapping[str, bytes | str] = {}) -> bytes:
    """Make an EPUB book from the HTML of its chapters, by name of their file."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in _each(chapters)
    )
    items += "".join(
        f'<item id="f{n}" href="{name}" media-type="image/png"/>' for n, name in _each(files) if name.endswith(".png")
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n, _ in _each(chapters))
    about = f"<dc:title>{title}</dc:title><dc:language>en</dc:language><dc:creator>Ann Lee</dc:creator>"
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{about}<dc:identifier id="i">x</dc:identifier>'
        f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    pages = {
        f"OEBPS/{name}": '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>c</title></head><body>{html}</body></html>"
        for name, html in chapters.items()
    }
    entries = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/content.opf": package}
    return zipped({**entries, **pages, **{_place(name): data for name, data in files.items()}})


def _place(name: str) -> str:
    return name if name.startswith("META-INF/") else f"OEBPS/{name}"


def _each(names: Mapping[str, object]) -> Sequence[tuple[int, str]]:
    return list(enumerate(names))


def notebook(*cells: Mapping[str, object], language: str = "python") -> bytes:
    """Make a Jupyter notebook."""
    kernel = {"kernelspec": {"name": language, "display_name": language, "language": language}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}).encode()


def said(text: str, **more: object) -> dict[str, object]:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "id": f"m{len(text)}", "metadata": {}, "source": text, **more}


def run(code: str, *outputs: Mapping[str, object]) -> dict[str, object]:
    """A cell of code, with what it gave."""
    cell = {"cell_type": "code", "id": f"c{len(code)}", "execution_count": 1, "metadata": {}}
    return {**cell, "source": code, "outputs": outputs}


def shown(**data: object) -> dict[str, object]:
    """An output by media type: ``text_html`` is ``text/html``."""
    bundle = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": bundle}
