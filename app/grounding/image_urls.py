"""What a model writes for an image, and the one URL it means: an image of this answer's passages, or none.

Pure. Forms: our URL itself, with another host or without its leading slash, ``attachment:`` and ``sandbox:`` paths,
a file name with or without folders, escaped or percent-encoded, in any case of letters.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from html import unescape
from urllib.parse import unquote

from app.grounding.citations import IMAGE_ROUTE

_LONGEST = 2000
_LONGEST_ALT = 300
_ESCAPE = re.compile(r"\\([ !-/:-@\[-`{-~])")
_SCHEMES = re.compile(r"^(?:[a-z][a-z0-9+.-]*:\s*)+", re.IGNORECASE)
_ENDING = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|image)$")
_NO_ALT = re.compile(r"[\[\]<>`\\]|\s+")


class ImageUrls:
    """The images that an answer may show."""

    def __init__(self, by_name: Mapping[str, tuple[str, ...]]) -> None:
        """Take the URLs by file name, best passage first, as :meth:`CitationBook.image_urls` has them."""
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        for url in (url for urls in by_name.values() for url in urls):
            article_id, _, path = url.removeprefix(IMAGE_ROUTE).partition("/")
            name = _key(unquote(path).rpartition("/")[2])
            self._by_name.setdefault(name, []).append((_key(unquote(article_id)), url))

    def resolve(self, target: str, *, is_image: bool = True) -> str | None:
        """The URL that is meant; ``None`` when it is no image of the passages.

        A target that names its article gets that article's image, if it is cited; a name alone the image of the best
        passage. ``is_image``: the target stands where only an image can, so that a name needs no ending.
        """
        if len(target) > _LONGEST:
            return None
        for path in _readings(unescape(target).strip().strip("<>\"'")):
            *folders, file = path.strip("/").split("/")
            for name in _names(_key(_SCHEMES.sub("", file)), is_image=is_image):
                if found := self._by_name.get(name):
                    return _best(found, folders)
        return None


def image_markdown(alt: str, url: str) -> str:
    """The image as markdown that means nothing else, whatever the alternative text holds."""
    text = " ".join(_NO_ALT.sub(" ", alt.replace("|", "-")).split())[:_LONGEST_ALT].strip()
    return f"![{text or image_name(url)}]({url})"


def image_name(url: str) -> str:
    """What an image is called where nobody said what it shows."""
    return " ".join(_NO_ALT.sub(" ", unquote(url).rpartition("/")[2].removesuffix(".png")).split())


def looks_like_image(target: str) -> bool:
    """Whether a target can only be an image, of these passages or of others."""
    return _ENDING.search(re.split(r"[?#]", target.lower(), maxsplit=1)[0]) is not None


def _readings(target: str) -> Iterator[str]:
    """The target as a path: without query, unescaped, decoded; the likeliest first."""
    for text in dict.fromkeys((re.split(r"[?#]", target, maxsplit=1)[0], target)):
        for unescaped in dict.fromkeys((_ESCAPE.sub(r"\1", text), text)):
            path = unescaped.replace("\\", "/")
            yield from dict.fromkeys((unquote(path), path, unquote(unquote(path))))


def _names(name: str, *, is_image: bool) -> Iterator[str]:
    yield name
    if _ENDING.search(name):
        yield _ENDING.sub(".png", name)
    elif is_image:
        yield f"{name}.png"


def _best(found: list[tuple[str, str]], folders: list[str]) -> str:
    article_id = _key(next((folder for folder in reversed(folders) if folder.lower() != "images"), ""))
    return next((url for owner, url in found if owner == article_id), found[0][1])


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
