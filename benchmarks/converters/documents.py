"""Readers of documents for `benchmarks.documents`: ours, and others as their documentation says.

    python -m benchmarks.converters.documents NAME --files LIST --out FOLDER

A line of the list is a folder with one document. Ours needs this project's environment, the others theirs
(`setup_documents.sh`).
"""

import argparse
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.converters.timing import Convert, convert_all, read_list

OURS = "ours"


def _document(folder: Path) -> Path:
    return next(folder.iterdir())


def _ours() -> Convert:
    """Source and converter. PDFium runs in this process, and not in one of its own, so that its cost is counted."""
    from benchmarks.converters.ours import with_images
    from kb_pipeline.limited.process import LimitedProcess
    from kb_pipeline.sources import source_of
    from kb_pipeline.sources.pdf.source import PdfSource
    from kb_pipeline.steps.html import convert_document
    from kb_pipeline.steps.images.probe import probe_image
    from kb_pipeline.steps.main_file import format_of
    from kb_pipeline.steps.pages import marks_to_comments

    class Here(LimitedProcess):
        def call(self, function: Callable[..., Any], *arguments: object, **_limits: object) -> Any:  # noqa: ANN401
            return function(*arguments)

    pdf = PdfSource(process=Here())

    def convert(folder: Path) -> str:
        file = _document(folder)
        file_format = format_of(file.name)
        source = pdf if file_format == "pdf" else source_of(file_format)
        document = source.read(folder.name, file.name, file.read_bytes())
        images = {name: probe_image(name, data) for name, data in document.images.items()}
        pages = [page.number for page in document.pages]
        markdown = convert_document(folder.name, file.name, document.html, images, pages).markdown
        return with_images(marks_to_comments(markdown))

    return convert


def _markitdown() -> Convert:
    """https://github.com/microsoft/markitdown, "Python API"."""
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda folder: str(converter.convert(_document(folder)).text_content)


def _pypdf_loader() -> Convert:
    """https://docs.langchain.com/oss/python/integrations/document_loaders/pypdfloader: a text for each page."""
    from langchain_community.document_loaders import PyPDFLoader

    return lambda folder: "\n\n".join(page.page_content for page in PyPDFLoader(str(_document(folder))).load())


def _pdfplumber_loader() -> Convert:
    """https://docs.langchain.com/oss/python/integrations/document_loaders/pdfplumber: a text for each page."""
    from langchain_community.document_loaders import PDFPlumberLoader

    return lambda folder: "\n\n".join(page.page_content for page in PDFPlumberLoader(str(_document(folder))).load())


def _pymupdf4llm() -> Convert:
    """https://pymupdf4llm.readthedocs.io: the last release that needs no model of layout."""
    import pymupdf4llm

    return lambda folder: str(pymupdf4llm.to_markdown(str(_document(folder)), show_progress=False))


READERS: dict[str, tuple[tuple[str, ...], Callable[[], Convert]]] = {
    OURS: ((), _ours),
    "markitdown": (("markitdown",), _markitdown),
    "PyPDFLoader": (("langchain-community", "pypdf"), _pypdf_loader),
    "PDFPlumberLoader": (("langchain-community", "pdfplumber"), _pdfplumber_loader),
    "pymupdf4llm": (("pymupdf", "pymupdf4llm"), _pymupdf4llm),
}
"""Row of the tables -> packages, and how to make the reader. Those whose names end in ``Loader`` are LangChain's."""


def main() -> None:
    """Read all documents of the list with one of them, or name their versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=READERS)
    parser.add_argument("--files", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--versions", action="store_true")
    arguments = parser.parse_args()
    if arguments.versions:
        packages = {package for names, _ in READERS.values() for package in names}
        print(json.dumps({package: version(package) for package in sorted(packages)}))
    else:
        _, make = READERS[arguments.name]
        print(json.dumps(convert_all(make(), read_list(arguments.files), arguments.out)))


if __name__ == "__main__":
    main()
