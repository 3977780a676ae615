"""Word and PowerPoint files of docling's own tests, beside the markdown that docling makes of them.

    python -m benchmarks.docling_files FOLDER [--show]

FOLDER is ``tests/data`` of docling-project/docling. For each file: how many words of docling's markdown and of the
file's own text are in ours (without equations, which only have LaTeX in common), and how many headings, items, table
rows and pictures both have. ``--show`` lists the words that are not in ours.
"""

import argparse
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.records import ImageInfo
from kb_pipeline.sources import source_of
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.main_file import format_of

_WORD = re.compile(r"[^\W_]+")
_NO_WORDS = re.compile(r"`?\$[^$`\n]+\$+`?|\[\[[^\]]*\]\]|<!--.*?-->|\]\([^)]*\)|\\(?=\W)|\*\*|</?\w+>")
_COUNTED = {
    "headings": r"^#+ ",
    "items": r"^[\s>]*(?:[-*]|\d+[.)]) ",
    "rows": r"^\|(?! *:?-)",
    "pictures": r"<!-- image|\[\[IMG:",
}
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PARTS = re.compile(r"word/(?:document|footnotes|endnotes)\.xml|ppt/(?:slides/slide|notesSlides/notesSlide)\d+\.xml")


class Compared(NamedTuple):
    """One file: the words of docling's markdown and of the file, and which of them ours has not."""

    name: str
    words: int
    lost: tuple[str, ...]
    of_file: int
    unread: tuple[str, ...]
    counts: str


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    found = list(_compared(arguments.folder))
    print("| file | of docling's words | of the file's words | headings, items, rows, pictures: ours / docling's |")
    print("|---|---|---|---|")
    for one in found:
        print(f"| {one.name} | {_share(one.words, one.lost)} | {_share(one.of_file, one.unread)} | {one.counts} |")
        if arguments.show and (one.lost or one.unread):
            print(f"  lost: {' '.join(one.lost)}; unread: {' '.join(one.unread)}")
    words, lost = sum(one.words for one in found), sum(len(one.lost) for one in found)
    of_file, unread = sum(one.of_file for one in found), sum(len(one.unread) for one in found)
    print(f"| all {len(found)} | {1 - lost / words:.4f} | {1 - unread / of_file:.4f} | |")


def _share(words: int, lost: tuple[str, ...]) -> str:
    return f"{words - len(lost)} of {words}"


def _compared(folder: Path) -> Iterator[Compared]:
    for file in sorted([*folder.glob("docx/sources/*.docx"), *folder.glob("pptx/sources/*.pptx")]):
        truth_file = file.parents[1] / "groundtruth" / f"{file.name}.md"
        truth = truth_file.read_text(encoding="utf-8") if truth_file.is_file() else ""
        ours = _ours(file)
        here = _words(ours)
        lost = tuple((_words(truth) - here).elements())
        text = _text_of(file)
        unread = tuple(word for word in text if word not in here)
        counts = ", ".join(f"{_count(rule, ours)} / {_count(rule, truth)}" for rule in _COUNTED.values())
        yield Compared(file.name, _words(truth).total(), lost, len(text), unread, counts)


def _ours(file: Path) -> str:
    try:
        document = source_of(format_of(file.name)).read("article", file.name, file.read_bytes())
        images = {
            name: ImageInfo(file=name, sha256="", format="PNG", width=200, height=200) for name in document.images
        }
        pages = [page.number for page in document.pages]
        return convert_document("article", file.name, document.html, images, pages).markdown
    except KnowledgeBaseError as exc:
        print(f"{file.name}: {exc}")
        return ""


def _words(markdown: str) -> Counter[str]:
    return Counter(_WORD.findall(_NO_WORDS.sub("", unescape(markdown.replace("<br>", " "))).casefold()))


def _count(rule: str, markdown: str) -> int:
    return len(re.findall(rule, markdown, re.MULTILINE))


def _text_of(file: Path) -> set[str]:
    """The words of the file's own parts: a paragraph without its runs, tags and alternatives."""
    found: set[str] = set()
    with zipfile.ZipFile(file) as container:
        for part in filter(_PARTS.fullmatch, container.namelist()):
            for paragraph in etree.fromstring(container.read(part)).iter("{*}p"):
                parts = (one for one in paragraph.iter("{*}t", "{*}br") if next(one.iterancestors("{*}p")) is paragraph)
                texts = (" " if one.tag.startswith(_MATH) else one.text or " " for one in parts)
                found.update(_WORD.findall("".join(texts).casefold()))
    return found


if __name__ == "__main__":
    main()
