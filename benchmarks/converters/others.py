"""The other converters, each as its documentation says; runs in their own environment (`setup.sh`).

    python -m benchmarks.converters.others NAME --pages LIST --out FOLDER

An option is set only where the default is not markdown as the scorer reads it (CommonMark with pipe tables).
"""

import argparse
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.converters.timing import Convert, convert_all, read_list


def _html(article: Path) -> str:
    """What the page says it is in, else UTF-8, else Latin-1; those that take a path find out themselves."""
    data = (article / "index.html").read_bytes()
    said = re.search(rb"charset=[\"']?\s*([\w-]+)", data[:3000], re.IGNORECASE)
    for encoding in (*([said[1].decode()] if said else []), "utf-8"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def _html_to_markdown() -> Convert:
    """https://docs.rs/html-to-markdown-rs: the engine that ours hands its cleaned tree to."""
    from html_to_markdown import convert

    return lambda article: str(convert(_html(article)).content)


def _html_to_markdown_cleaned() -> Convert:
    """The same with its own removal of navigation."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    cleaning = PreprocessingOptions(enabled=True, preset="aggressive", remove_navigation=True, remove_forms=True)
    options = ConversionOptions(preprocessing=cleaning, extract_metadata=False)
    return lambda article: str(convert(_html(article), options).content)


def _markitdown() -> Convert:
    """https://github.com/microsoft/markitdown, "Python API"."""
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda article: str(converter.convert(article / "index.html").text_content)


def _markdownify() -> Convert:
    """https://github.com/matthewwithanm/python-markdownify: `heading_style="ATX"`, as underlines know two levels."""
    from markdownify import markdownify

    return lambda article: str(markdownify(_html(article), heading_style="ATX"))


def _html2text() -> Convert:
    """https://github.com/Alir3z4/html2text: `body_width=0`, as a wrapped table is none."""
    import html2text

    def convert(article: Path) -> str:
        converter = html2text.HTML2Text()
        converter.body_width = 0
        converter.unicode_snob = True
        return str(converter.handle(_html(article)))

    return convert


def _docling() -> Convert:
    """https://docling-project.github.io/docling: its HTML backend, which is all that its converter uses for HTML.

    Asked directly, because `DocumentConverter` imports PyTorch.
    """
    from docling.backend.html_backend import HTMLDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    def convert(article: Path) -> str:
        path: Any = article / "index.html"
        document = InputDocument(path_or_stream=path, format=InputFormat.HTML, backend=HTMLDocumentBackend)
        return str(HTMLDocumentBackend(in_doc=document, path_or_stream=path).convert().export_to_markdown())

    return convert


def _pandoc() -> Convert:
    """https://pandoc.org/MANUAL.html: GitHub's markdown without raw HTML, a process for each page."""
    import pypandoc

    def convert(article: Path) -> str:
        wanted, given = "gfm-raw_html", "html-native_divs-native_spans"
        return str(pypandoc.convert_text(_html(article), wanted, format=given, extra_args=["--wrap=none"]))

    return convert


OTHERS: dict[str, tuple[str, Callable[[], Convert]]] = {
    "html-to-markdown": ("html-to-markdown", _html_to_markdown),
    "html-to-markdown, its cleaning": ("html-to-markdown", _html_to_markdown_cleaned),
    "markitdown": ("markitdown", _markitdown),
    "markdownify": ("markdownify", _markdownify),
    "html2text": ("html2text", _html2text),
    "docling": ("docling-slim", _docling),
    "pandoc": ("pypandoc_binary", _pandoc),
}
"""Row of the table -> package, and how to make the converter."""


@cache
def _pandoc_version() -> str:
    import pypandoc

    return str(pypandoc.get_pandoc_version())


def main() -> None:
    """Convert with one of them, or name their versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", choices=OTHERS)
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--versions", action="store_true")
    arguments = parser.parse_args()
    if arguments.versions:
        versions = {package: version(package) for package, _ in OTHERS.values()}
        print(json.dumps(versions | {"pandoc": _pandoc_version()}))
    else:
        _, make = OTHERS[arguments.name]
        print(json.dumps(convert_all(make(), read_list(arguments.pages), arguments.out)))


if __name__ == "__main__":
    main()
