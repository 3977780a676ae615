"""Short ways to convert a page and to read the markdown that came out. No tests here."""

import re

from markdown_it import MarkdownIt

from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.steps.html import convert_html

_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def image(file: str, width: int = 400, height: int = 300, problem: str | None = None) -> ImageInfo:
    kind = file.rsplit(".", 1)[-1].upper()
    return ImageInfo(file=file, sha256=f"hash of {file}", format=kind, width=width, height=height, problem=problem)


def convert(html: str | bytes, *images: ImageInfo) -> ConvertedArticle:
    raw = html if isinstance(html, bytes) else html.encode()
    return convert_html("an-article", raw, {info.file: info for info in images})


def markdown(html: str | bytes, *images: ImageInfo) -> str:
    return convert(html, *images).markdown.strip()


def rendered(text: str) -> str:
    """The HTML a CommonMark reader makes of the markdown."""
    return _READER.render(text)


def read_words(text: str) -> str:
    """What a reader of the rendered markdown sees, white space unified."""
    parts = []
    for token in _READER.parse(text):
        for child in token.children or []:
            assert not child.type.startswith("html"), f"HTML in {text!r}"
            parts.append("\n" if child.type.endswith("break") else child.content)
        parts.append("\n" if token.type == "inline" else token.content if token.type in ("fence", "code_block") else "")
    return " ".join(re.sub(r"\s+", " ", "".join(parts)).split())
