"""What a service may make of an article: short ways to restore it, and the damage that services do. No tests here."""

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.markers import find_markers
from kb_pipeline.steps.restore import restore_article
from kb_pipeline.steps.restore.recognise import aliases_of
from kb_pipeline_tests.steps.html.pages import convert

_SAMPLES = Path(__file__).parents[3] / "samples" / "staging"
_LINK = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^>]*>|[^()\s])*\)")
_FENCE = re.compile(r"^([ \t>]*)(`{3,})[^`\n]*\n.*?^[ \t>]*\2[ \t]*$", re.M | re.S)


def restored(html: str, markdown: str | list[str], *images: ImageInfo) -> ConvertedArticle:
    return restore_article(convert(html, *images), markdown, "a-service-1")


def restored_text(html: str, markdown: str | list[str], *images: ImageInfo) -> str:
    return restored(html, markdown, *images).markdown.strip()


def sample_names() -> list[str]:
    return sorted(folder.name for folder in _SAMPLES.iterdir() if folder.is_dir())


def html_sample_names() -> list[str]:
    return [name for name in sample_names() if (_SAMPLES / name / "index.html").exists()]


def sample_page(name: str) -> tuple[bytes, dict[str, ImageInfo]]:
    files = [path for path in (_SAMPLES / name).rglob("*") if path.suffix == ".image"]
    names = {path.relative_to(_SAMPLES / name).as_posix(): path for path in files}
    images = {file: probe_image(file, path.read_bytes()) for file, path in names.items()}
    return (_SAMPLES / name / "index.html").read_bytes(), images


@cache
def sample(name: str) -> ConvertedArticle:
    return convert_html(name, *sample_page(name))


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    parts, done = [], 0
    for code in _FENCE.finditer(markdown):
        parts += [change(markdown[done : code.start()]), code[0]]
        done = code.end()
    return "".join([*parts, change(markdown[done:])])


def without_links(markdown: str) -> str:
    return outside_code(markdown, lambda text: _LINK.sub(r"\1", text))


def without_markers(markdown: str) -> str:
    return re.sub(r"[ \t]*\[\[IMG:[^\]]*\]\]", "", markdown)


def with_markers(article: ConvertedArticle, write: Callable[[str], str]) -> str:
    """The article's markdown, each marker as ``write`` makes it of the image's alias."""
    aliases = aliases_of(image.file for image in article.images)
    parts, done = [], 0
    for marker in find_markers(article.markdown):
        parts += [article.markdown[done : marker.start], write(aliases[marker.file])]
        done = marker.end
    return "".join([*parts, article.markdown[done:]])


def with_other_levels(markdown: str, chance: random.Random) -> str:
    return outside_code(
        markdown, lambda text: re.sub("^#+ ", lambda _: "#" * chance.randint(1, 5) + " ", text, flags=re.M)
    )


def with_page_breaks(markdown: str, chance: random.Random) -> str:
    def broken(match: re.Match[str]) -> str:
        words = match[0].split(" ")
        place = chance.randrange(4, len(words) - 4)
        return f"{' '.join(words[:place])}\n\n<!-- PageBreak -->\n\n{' '.join(words[place:])}"

    return outside_code(markdown, lambda text: re.sub(r"^[A-Z](?:[\w,.:;] ?){100,}$", broken, text, flags=re.M))


def misread(text: str, chance: random.Random, share: float = 0.02) -> str:
    looks = {"o": "0", "l": "1", "e": "c", "m": "rn", "i": "l", "a": "o"}

    def wrong(match: re.Match[str]) -> str:
        return "".join(looks.get(letter, letter) if chance.random() < share else letter for letter in match[0])

    return outside_code(text, lambda part: re.sub(r"(?<![\[:./\w-])[A-Za-z]{4,}(?![\]:./\w-])", wrong, part))
