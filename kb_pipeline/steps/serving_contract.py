"""Read an article that another program made in the form of the serving layer: ``article.md``, images, a manifest.

Its text stays as it is. Each image becomes a marker with the description that stands at it, so that all later steps
treat it like an article of ours: an image block that is written as ours comes out as it came in, and ``![text](images/
file.png)`` becomes such a block. Nothing is read but what the folder holds; what cannot be shown safely is refused.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import (
    ConvertedArticle,
    DocumentCounts,
    DocumentFacts,
    ImageDescription,
    ImageInfo,
    ImageProblem,
    ImageReference,
    Link,
    PageInfo,
)
from kb_pipeline.steps.checks.contents import contents_of
from kb_pipeline.steps.chunk.plain import plain_title
from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.html.images import Stems, safe_stem
from kb_pipeline.steps.markdown_parsers import checking_parser
from kb_pipeline.steps.markers import NOT_MARKERS, escape_line, find_markers, image_marker
from kb_pipeline.steps.merge_images import continuation
from kb_pipeline.steps.metadata import FACTS, read_facts, read_metadata
from kb_pipeline.steps.pages import comments_to_marks, find_marks

SERVING = "serving"
"""The format of such an article."""
MAIN_FILE = "article.md"
MANIFEST_FILE = "manifest.json"
MADE_ELSEWHERE = "made elsewhere"
"""What is recorded instead of a model or a program of ours."""
READER_VERSION = "1"
"""Increase it if the same folder would be read differently."""

_IMAGES = "images/"
_TARGET = r"(?:<[^<>\n]*+>|(?:[^()\s<]|\([^()\s]*+\))++)"
_TITLE = r"""(?:[ \t]+(?:"[^"\n]*+"|'[^'\n]*+'))?[ \t]*"""
_LABEL = r"(?:[^\[\]\\\n]|\\.)*+"
_SCANNER = re.compile(
    rf"""
    {NOT_MARKERS}
    # the first line of an image block
  | ^ (?P<prefix> (?:[ \t]|>|[-*+](?=[ \t])|\d{{1,9}}[.)](?=[ \t]))* ) > [ \t]?
      \*\*\[Image:[ ]{_LABEL}\]\((?P<block>{_TARGET})\)\*\* [ \t]* $
    # an image that is a link
  | \[ !\[(?P<linked_label>{_LABEL})\]\((?P<linked>{_TARGET}){_TITLE}\) [ \t]* \]\((?P<link>{_TARGET}){_TITLE}\)
    # an image, or a link to one
  | (?P<bang>!?) \[(?P<label>{_LABEL})\]\((?P<target>{_TARGET}){_TITLE}\)
    """,
    re.VERBOSE | re.MULTILINE | re.ASCII,
)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)
_UI_ELEMENTS, _NAVIGATION = "UI elements: ", "Navigation: "
_LABELLED = "Image: "
_BLANK = re.compile(r"(?:\n[ \t>]*(?:\n|\Z))?")
_UNSAFE = re.compile(r"[\x00-\x20]*(?:javascript|data|vbscript|file)[\x00-\x20]*:", re.IGNORECASE)
_LONGEST_NAME = 200
"""Characters of a name in a manifest of others."""


def read_serving_article(
    article_id: str, data: bytes, manifest: bytes | None, images: Mapping[str, ImageInfo]
) -> ConvertedArticle:
    """Read ``article.md`` and, if there is one, ``manifest.json``; ``images`` are the files below ``images/``.

    An image that is missing, or is not the file that the manifest lists, is among ``lost_images``.

    Raises:
        UnreadableArticleError: the text or the manifest cannot be read, or holds what must not be served.
    """
    try:
        return _read(article_id, data, manifest, images)
    except RecursionError as exc:
        raise _refused(article_id, "has brackets or quotes that are nested too deeply") from exc


def _read(article_id: str, data: bytes, manifest: bytes | None, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
    text = _decoded(article_id, data)
    for marker in [*(one.file for one in find_markers(text)), *(f"page {one.page}" for one in find_marks(text))]:
        raise _refused(article_id, f"has the marker of {marker[:80]!a}, which belongs to an unfinished article")
    stated = _Manifest.read(article_id, manifest)
    reader = _Reader(comments_to_marks(text), images, stated)
    markdown = reader.read()
    links = tuple(_links(article_id, markdown))
    control = contents_of(text)
    targets = [target for target in control.link_targets if not target.startswith(_IMAGES)]
    heading = _HEADING.search(text)
    return ConvertedArticle(
        article_id=article_id,
        **{"title": (plain_title(heading[1]) if heading else "") or article_id, **stated.metadata},
        markdown=markdown,
        images=tuple(reader.references.values()),
        descriptions=reader.descriptions,
        lost_images=tuple(reader.lost.values()),
        links=links,
        counts=DocumentCounts(
            words=len(text.split()),
            headings=len(control.headings),
            images=len(find_markers(markdown)),
            links=len(targets),
            tables=len(control.tables),
            code_blocks=len(control.code_blocks),
        ),
        warnings=(*stated.warnings, *dict.fromkeys(reader.warnings)),
        converter=f"{MADE_ELSEWHERE}, by {stated.converter}" if stated.converter else MADE_ELSEWHERE,
        pages=tuple(PageInfo(number=mark.page, label=mark.label) for mark in find_marks(markdown)),
        facts=stated.facts,
    )


def _decoded(article_id: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UnreadableArticleError(f"{article_id}: {MAIN_FILE} is not UTF-8 text ({exc}); save it as UTF-8") from exc
    if "\x00" in text:
        raise UnreadableArticleError(f"{article_id}: {MAIN_FILE} is binary, not Markdown")
    return clean(text.replace("\r\n", "\n"))


def _refused(article_id: str, problem: str) -> UnreadableArticleError:
    return UnreadableArticleError(f"{article_id}: {MAIN_FILE} {problem}; correct it where the folder was made")


class _Listed(NamedTuple):
    """What the manifest says about an image."""

    sha256: str
    alt: str
    caption: str


@dataclass(frozen=True)
class _Manifest:
    """What is taken from ``manifest.json``; ``metadata`` has only values that are set."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    facts: DocumentFacts | None = None
    images: Mapping[str, _Listed] = field(default_factory=dict)
    converter: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, article_id: str, data: bytes | None) -> "_Manifest":
        if data is None:
            return cls()
        metadata, warnings = read_metadata(data, MANIFEST_FILE)  # raises if it is no JSON object
        values: Mapping[str, object] = json.loads(data.decode("utf-8-sig"))
        if values.get("article_id") not in (None, article_id):
            raise UnreadableArticleError(
                f"{article_id}: {MANIFEST_FILE} is of the article {str(values['article_id'])[:80]!a}; give the folder "
                "this name, or mend the manifest"
            )
        nested = values.get("facts")
        stated = {**nested, **values} if isinstance(nested, dict) else values
        others = {name: text for name in ("created", "changed", "producer") if (text := _line(stated.get(name)))}
        facts = {**read_facts(stated, MANIFEST_FILE)[0], **others}
        made = values.get("provenance")
        left = metadata.model_dump(exclude={"main", *FACTS}, exclude_defaults=True)
        return cls(
            metadata=left,
            facts=DocumentFacts(**facts) if facts else None,
            images=dict(_listed(values.get("images"))),
            converter=_line(made.get("converter")) if isinstance(made, dict) else "",
            warnings=warnings,
        )


def _listed(images: object) -> Iterator[tuple[str, _Listed]]:
    for image in images if isinstance(images, list) else ():
        if isinstance(image, dict) and isinstance(path := image.get("path"), str):
            yield path, _Listed(*(_line(image.get(name), 1000) for name in ("sha256", "alt", "caption")))


def _line(value: object, longest: int = _LONGEST_NAME) -> str:
    return " ".join(clean(value).split())[:longest] if isinstance(value, str) else ""


class _Shown(NamedTuple):
    """What stands at an image; ``is_stated`` if somebody described it, and it was not made from names."""

    description: ImageDescription
    alt: str = ""
    is_stated: bool = False


class _Reader:
    """Replaces images by markers, from the beginning of the text to its end."""

    def __init__(self, text: str, images: Mapping[str, ImageInfo], manifest: _Manifest) -> None:
        self.references: dict[str, ImageReference] = {}
        self.lost: dict[str, ImageProblem] = {}
        self.warnings: list[str] = []
        self._shown: dict[str, _Shown] = {}
        self._text, self._images, self._manifest = text, images, manifest
        self._stems = Stems()
        headings = list(_HEADING.finditer(text))
        self._headings = [heading.start() for heading in headings]
        self._titles = ["", *(plain_title(heading[1]) for heading in headings)]
        self._in_cells: dict[str, int] = {}

    @property
    def descriptions(self) -> dict[str, ImageDescription]:
        """The description of each image that can be shown."""
        return {file: self._shown[file].description for file in self.references}

    def read(self) -> str:
        """Return the text with markers."""
        text, parts, copied, position = self._text, [""], 0, 0
        while match := _SCANNER.search(text, position):
            position = match.end()
            if match["block"]:
                file = _file(match["block"])
                shown, position = self._block(match["prefix"], position)
                marker = self._marker(file, shown, match.start())
                if self._is_of_table(file, match.start()):
                    # the block is written again behind the table
                    position += len(_BLANK.match(text, position)[0])  # type: ignore[index]
                    replacement = ""
                else:
                    replacement = match["prefix"] + (marker or escape_line(shown.description.description))
            elif match["linked"]:
                file = _file(match["linked"])
                shown = _by_name(file, match["linked_label"])
                marker = self._marker(file, shown, match.start())
                replacement = f"[{match['linked_label'] or safe_stem(file)}]({match['link']}) {marker}".rstrip()
            elif match["target"] and _file(match["target"]).startswith(_IMAGES):
                replacement = self._inline(match)
            else:
                continue
            parts += [text[copied : match.start()], replacement]
            copied = position
        markdown = "".join([*parts, text[copied:]])
        return markdown.rstrip("\n") + text[len(text.rstrip("\n")) :]

    def _inline(self, match: re.Match[str]) -> str:
        """An image or a link to one. In the cell of a table, our own images are such links."""
        file, label = _file(match["target"]), match["label"]
        is_cell = not match["bang"] and label.startswith(_LABELLED)
        marker = self._marker(file, _by_name(file, "" if is_cell else label), match.start())
        if is_cell:
            self._in_cells[file] = match.end()
        if match["bang"] or is_cell:
            return marker or label
        return f"{label} {marker}".rstrip()

    def _block(self, prefix: str, position: int) -> tuple[_Shown, int]:
        """Read the lines of an image block after its first; returns also where they end."""
        quoted = continuation(prefix) + ">"
        described: list[str] = []
        elements: tuple[str, ...] = ()
        path: tuple[str, ...] = ()
        while self._text.startswith("\n" + quoted, position):
            end = self._text.find("\n", position + 1)
            end = len(self._text) if end < 0 else end
            line = self._text[position + 1 + len(quoted) : end].strip()
            if line.startswith(f"**[{_LABELLED}"):
                break  # the next image
            if line.startswith(_UI_ELEMENTS):
                elements = _parts(line.removeprefix(_UI_ELEMENTS), ", ")
            elif line.startswith(_NAVIGATION):
                path = _parts(line.removeprefix(_NAVIGATION), " > ")
            else:
                described.append(line)
            position = end
        words = plain_title(" ".join(filter(None, described)))
        return _Shown(
            ImageDescription(description=words, ui_elements=elements, navigation_path=path), is_stated=True
        ), position

    def _is_of_table(self, file: str, start: int) -> bool:
        """Whether the block at ``start`` is that of an image in a table right before it."""
        if file not in self._in_cells:
            return False
        between = self._text[self._in_cells[file] : start].split("\n")[1:]
        return all("|" in line or not line.strip() or line.lstrip().startswith(">") for line in between)

    def _marker(self, file: str, shown: _Shown, position: int) -> str:
        """The marker of an image, which is remembered; "" if it cannot be shown."""
        listed, info = self._manifest.images.get(file), self._images.get(file)
        section = self._titles[bisect_right(self._headings, position)]
        problem = f"{file} is not in the folder"
        if info:
            problem = f"{file}: {info.problem}" if info.problem else ""
        if info and not problem and listed and listed.sha256 not in ("", info.sha256):
            problem = f"{file} is not the file that {MANIFEST_FILE} lists; copy the folder again"
        if info is None or problem:
            self.lost.setdefault(file, ImageProblem(file=file, problem=problem, section=section))
            return ""
        known = self._shown.get(file)
        if known is None or (shown.is_stated and not known.is_stated):
            self._shown[file] = shown
        elif shown.is_stated and shown.description != known.description:
            self.warnings.append(f"{file} is described in different words in several places; the first ones are shown")
        if file not in self.references:
            self.references[file] = ImageReference(
                file=file,
                stem=self._stems.take(file),
                sha256=info.sha256,
                alt=listed.alt if listed else shown.alt,
                caption=listed.caption if listed else "",
                section=section,
            )
        return image_marker(file)


def _file(target: str) -> str:
    return unquote(target.removeprefix("<").removesuffix(">")).removeprefix("./")


def _by_name(file: str, label: str) -> _Shown:
    """The description of an image without a block: its alternative text, else the words of its name."""
    alt = plain_title(label)
    words = alt or re.sub(r"[\W_]+", " ", safe_stem(file)).strip() or safe_stem(file)
    return _Shown(ImageDescription(description=words), alt, is_stated=bool(alt))


def _parts(line: str, separator: str) -> tuple[str, ...]:
    return tuple(filter(None, (plain_title(part) for part in line.split(separator))))


def _links(article_id: str, markdown: str) -> Iterator[Link]:
    """Return the links of the text.

    Raises:
        UnreadableArticleError: it shows an image from elsewhere, or a link runs a script or opens a local file.
    """
    for token in checking_parser().parse(markdown):
        target: str | None = None
        words: list[str] = []
        for child in token.children or ():
            if child.type == "image":
                source = str(child.attrs["src"])[:80]
                raise _refused(
                    article_id,
                    f"shows {source!a}; an image is a file below {_IMAGES}, written as ![text]({_IMAGES}file.png)",
                )
            if child.type == "link_open":
                target, words = str(child.attrs["href"]), []
                if _UNSAFE.match(unquote(target)):
                    raise _refused(article_id, f"has a link to {target[:80]!a}, which is not safe to follow")
                if _file(target).startswith(_IMAGES):
                    raise _refused(article_id, f"links to {target[:80]!a} in a form that is not read")
            elif child.type == "link_close" and target is not None:
                if label := " ".join("".join(words).split()):
                    yield Link(label=label, target=target)
                target = None
            else:
                words.append(child.content)
