"""What one answer may refer to, show and link to, according to its passages."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from urllib.parse import unquote

from app.grounding.citations import IMAGE_ROUTE, CitationBook
from app.grounding.references import write_references
from app.grounding.source_style import NamedSource, numbers_of
from app.schema.passages import Citation

_LONGEST = 2000
"""Characters of an address, as in ``patterns.LONGEST_TARGET``."""
_LONGEST_ALT = 300
"""Characters of an alternative text: a caption; what is longer describes the picture in the passage."""
_ESCAPE = re.compile(r"\\([ !-/:-@\[-`{-~])")
_SCHEMES = re.compile(r"^(?:[a-z][a-z0-9+.-]*:\s*)+", re.IGNORECASE)
_NO_ARTICLE = frozenset({"", ".", "..", "images"})
"""Folders before a file name that say nothing about its article."""
_OWN_MACHINE = re.compile(r"(?:sandbox|file):|[a-z]:[\\/]", re.IGNORECASE)
"""Begins a path on the machine that a model takes for its own, whose folders are no articles."""
_OTHER_HOST = re.compile(r"(?:https?:)?//(?!localhost|127\.|[^/]*/api/images/)", re.IGNORECASE)
_ENDING = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|image)$")
_NO_ALT = re.compile(r"[\[\]<>`\\]|\s+")


class Sources:
    """What an answer may use of a book that grows while the answer is written."""

    def __init__(self, book: CitationBook, shown_number: Callable[[int], int] = lambda number: number) -> None:
        """``shown_number`` returns the number under which a reader sees a passage of the book."""
        self._book = book
        self._shown_number = shown_number
        self._citation_count = -1
        self._referred: list[str] = []
        self.is_quoted = False
        """Code writes now, and quotes articles: only ``[Ref #N]`` refers; other forms are words of an article."""
        self.refresh()

    def are_outdated(self) -> bool:
        """Whether passages were added to the book since the last :meth:`refresh`."""
        return len(self._book.citations) != self._citation_count

    def refresh(self) -> None:
        """Take in the passages that were added to the book since the last call."""
        if self.are_outdated():
            citations = self._book.citations
            self._citation_count = len(citations)
            self.numbers = self._book.numbers()
            self.images = ImageUrls(self._book.image_urls())
            self.links = AllowedLinks(citations)

    def refer(self, numbers: Sequence[int]) -> str:
        """Return references to these passages of the book, and note that the answer has just referred to them."""
        by_number = {citation.number: citation.article_id for citation in self._book.citations}
        for article_id in (_key(by_number[number]) for number in numbers):
            self._referred = [article_id, *(other for other in self._referred if other != article_id)]
        return write_references(map(self._shown_number, numbers))

    def meant_by(self, named: Iterable[NamedSource]) -> tuple[int, ...]:
        """The numbers of the passages that sources in words mean."""
        return numbers_of(named, self._book.citations)

    def say(self, text: str) -> bool:
        """Whether a passage holds exactly this text."""
        return any(text in citation.passage for citation in self._book.citations)

    def image(self, target: str, *, is_image: bool = True) -> str | None:
        """The URL of the passages' image that a target means at this place of the answer, or ``None``."""
        return self.images.resolve(target, is_image=is_image, near=self._referred)

    def allows(self, target: str) -> bool:
        return self.links.allows(target) or self.image(target, is_image=False) is not None


class ImageUrls:
    """The images that an answer may show."""

    def __init__(self, by_name: Mapping[str, tuple[str, ...]]) -> None:
        """Take the URLs by file name, best passage first, as :meth:`CitationBook.image_urls` returns them."""
        self._by_name: dict[str, dict[str, str]] = {}
        for url in (url for urls in by_name.values() for url in urls):
            article_id, _, path = url.removeprefix(IMAGE_ROUTE).partition("/")
            name = _key(unquote(path).rpartition("/")[2])
            self._by_name.setdefault(name, {}).setdefault(_key(unquote(article_id)), url)

    def resolve(self, target: str, *, is_image: bool = True, near: Sequence[str] = ()) -> str | None:
        """The URL of the passages' image that a target means, or ``None``.

        A target that names a folder or a host means the image of the article with that name, never one of another
        article: many articles have an ``image1.png``. A bare file name that several articles have means the one of
        the article that comes first in ``near``; if none of them does, it means no image. On another host, where a
        model may think that images are, a file name means the one image that has it, if only one has. ``is_image``:
        only an image can stand at this place, so the name needs no file extension.
        """
        if len(target) > _LONGEST:
            return None
        for path in _possible_paths(unescape(target).strip().strip("<>\"'")):
            *folders, file = _SCHEMES.sub("", path).strip("/").split("/")
            named = [folder for folder in folders if folder.lower() not in _NO_ARTICLE]
            for name in _possible_names(_key(_SCHEMES.sub("", file)), is_image=is_image):
                urls = self._by_name.get(name, {})
                if named and not _OWN_MACHINE.match(path):
                    url = urls.get(_key(named[-1]))
                    if url is None and is_image and len(urls) == 1 and _OTHER_HOST.match(path):
                        [url] = urls.values()
                else:
                    articles = [article_id for article_id in near if article_id in urls] or list(urls)
                    url = urls[articles[0]] if articles and (len(urls) == 1 or articles[0] in near) else None
                if url:
                    return url
        return None


def image_markdown(alt: str, url: str) -> str:
    """An image as markdown; nothing in the alternative text can change what the markdown means."""
    text = " ".join(_NO_ALT.sub(" ", alt.replace("|", "-")).split())[:_LONGEST_ALT].strip()
    return f"![{text or image_name(url)}]({url})"


def image_name(url: str) -> str:
    """The name of an image that has no description: its file name."""
    return " ".join(_NO_ALT.sub(" ", unquote(url).rpartition("/")[2].removesuffix(".png")).split())


def looks_like_image(target: str) -> bool:
    """Whether a target ends like an image file."""
    return _ENDING.search(re.split(r"[?#]", target.lower(), maxsplit=1)[0]) is not None


def _possible_paths(target: str) -> Iterator[str]:
    """Yield the target without query, unescaped and decoded, in every combination, the likeliest first."""
    for text in dict.fromkeys((re.split(r"[?#]", target, maxsplit=1)[0], target)):
        for unescaped in dict.fromkeys((_ESCAPE.sub(r"\1", text), text)):
            path = unescaped.replace("\\", "/")
            yield from dict.fromkeys((unquote(path), path, unquote(unquote(path))))


def _possible_names(name: str, *, is_image: bool) -> Iterator[str]:
    yield name
    if _ENDING.search(name):
        yield _ENDING.sub(".png", name)
    elif is_image:
        yield f"{name}.png"


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


TRAILING = "?!.,:;*_~'\""
"""Punctuation that ends a sentence rather than an address, as in GitHub's extended autolinks."""

_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_BARE = re.compile(
    r"(?<![\w@/.:%+-])(?:[a-z][a-z0-9+.-]*://[^\s<>\"`|\\^{}\[\]]+|[\w%+-]+(?:\.[\w%+-]+)+(?![\w@/:%+-]))",
    re.IGNORECASE,
)
_MARKDOWN_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_PARTS = re.compile(r"(https?|ftp)://([^/?#\\]+)([^#\\]*)(?:#(?!.*(?://|@)).*)?", re.IGNORECASE | re.DOTALL)


class AllowedLinks:
    """The addresses that an answer may link to: those in the passages' text, and the passages' sources.

    Of a page of the web only its own address: what strangers write may name any other.
    """

    def __init__(self, citations: Iterable[Citation]) -> None:
        self._allowed: set[str] = set()
        self._named: set[str] = set()
        for citation in citations:
            if citation.is_of_web:
                self._allowed.update(_addresses(citation.source_url or ""))
                continue
            plain = _MARKDOWN_ESCAPE.sub(r"\1", citation.passage)
            for text in {citation.passage, plain, unescape(plain), citation.source_url or ""}:
                self._allowed.update(_addresses(text))
                self._named.update(trimmed(match[0]).casefold() for match in _BARE.finditer(text))

    def allows(self, target: str) -> bool:
        """Whether a link may lead to this target. The fragment is ignored: browsers do not send it."""
        if target[:7].lower() == "mailto:":
            return _MAIL.fullmatch(target[7:]) is not None and target[7:].lower() in self._allowed
        if target[:4].lower() == "www.":
            return self.allows(f"https://{target}") or self.allows(f"http://{target}")
        return _host_and_path(target) in self._allowed

    def names(self, written: str) -> bool:
        """Whether a passage contains exactly this domain, file name or address of any scheme."""
        return written.casefold() in self._named


def trimmed(address: str) -> str:
    """A bare address without the punctuation and the unmatched closing brackets at its end."""
    depth = 0
    for at, char in enumerate(address):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return trimmed(address[:at])
    return address.rstrip(TRAILING)


def _addresses(text: str) -> Iterator[str]:
    for match in _ADDRESS.finditer(text):
        address = trimmed(match[0])
        yield _host_and_path(address if "://" in address[:8] else f"https://{address}") or ""
    yield from (match[0].lower() for match in _MAIL.finditer(text))


def _host_and_path(address: str) -> str | None:
    """Return a spelling that all spellings of one address share."""
    parts = _PARTS.fullmatch(address)
    return f"{parts[1].lower()}://{parts[2].lower()}{parts[3].rstrip('/')}" if parts else None
