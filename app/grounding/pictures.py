"""Which screenshots of the found passages belong to what is quoted of them, and what is written on them.

Here: choosing. Not here: loading images, or looking at them: descriptions were made when the article was ingested.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from urllib.parse import unquote

from app.grounding.asked import Asked
from app.grounding.quoting import inline
from app.grounding.sentences import Unit, units_of
from app.grounding.words import Weights, words
from app.schema import Citation

_URL = re.compile(r"\]\((/api/images/[^()\s]+)\)")
_QUOTE_MARK = re.compile(r"^[ \t>]+", re.M)
_LISTING = re.compile(r"(?:UI elements|Navigation|Text on screen): ")
_STEP = "Shown at the step: "
_ON_SCREEN = "Text on screen: "
_PIECE = re.compile(r";\s|(?<=[.!?])\s+")
_LABELLED = re.compile(r"[^:,=]{2,40}(?:[:=] ?[^\s:=]|, ?\d)")
_MARKUP = re.compile(r"[\\\[\]`*<>]")
_SHORTEST_ALT, _LONGEST_ALT = 4, 100
_LONGEST_PIECE = 120
_PIECES = 2
_TELLING, _NEARLY = 0.45, 0.9
_MOST_TELLING = 2


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a passage, with its description; ``at`` is where it stands in the passage.

    ``shows`` is how much of a question is written on it, from 0 to 1.
    """

    citation: Citation
    url: str
    description: str
    at: int
    shows: float = 0.0

    @property
    def markdown(self) -> str:
        """The image, with the beginning of its description, or else its name, as alternative text."""
        line = self.description.partition("\n")[0]
        first = _MARKUP.sub("", line.partition(". ")[0].removeprefix(_STEP)).strip()
        name = unquote(self.url.rpartition("/")[2]).removesuffix(".png")
        alt = name if _LISTING.match(first) or len(first) < _SHORTEST_ALT else first
        short = alt if len(alt) <= _LONGEST_ALT else alt[:_LONGEST_ALT].rpartition(" ")[0]
        return f"![{short.strip(' (,;:')}]({self.url})"

    @property
    def pieces(self) -> tuple[str, ...]:
        """What is written on it, piece by piece; of a description in prose: its sentences."""
        text = self.description.partition("\n")[0]
        text = text.partition(_ON_SCREEN)[2] or text.partition(_STEP)[0]
        return tuple(dict.fromkeys(filter(None, (piece.strip(" .") for piece in _PIECE.split(text)))))


def pictures_of(citation: Citation) -> list[Picture]:
    """The images of a passage in its order."""
    found = (_picture(citation, unit) for unit in units_of(citation.passage))
    return [picture for picture in found if picture]


def pictures_beside(citation: Citation, quoted: Sequence[Unit], reach: int) -> list[Picture]:
    """The images between the first and the last of the quoted units, or else the nearest one within reach of them.

    Of two that are as near, the one after: an article first says and then shows. ``reach`` counts units.
    """
    units = units_of(citation.passage)
    first, last = units.index(quoted[0]), units.index(quoted[-1])
    images = [(at, picture) for at, unit in enumerate(units) if (picture := _picture(citation, unit))]
    inside = [picture for at, picture in images if first < at < last]
    near = [(at - last if at > last else first - at, at < first, at, picture) for at, picture in images]
    return inside or [picture for distance, _, _, picture in sorted(near, key=lambda n: n[:3])[:1] if distance <= reach]


def telling_pictures(citations: Sequence[Citation], asked: Asked) -> list[tuple[Picture, str]]:
    """The images that much of the question is written on, and the pieces of text that answer it; at most two."""
    units = (unit for citation in citations for unit in units_of(citation.passage))
    worth = asked.worth(Weights(frozenset(words(unit.text)) for unit in units))
    pictures = [_judged(picture, worth) for citation in citations for picture in pictures_of(citation)]
    best = max((picture.shows for picture in pictures), default=0.0)
    telling = [picture for picture in pictures if picture.shows >= max(_TELLING, best * _NEARLY)]
    by_text: dict[str, Picture] = {}
    for picture in sorted(telling, key=lambda picture: -picture.shows):
        by_text.setdefault(_written(picture, worth), picture)
    return [(picture, text) for text, picture in by_text.items()][:_MOST_TELLING]


def _judged(picture: Picture, worth: Mapping[str, float]) -> Picture:
    shows = fsum(worth.get(word, 0.0) for word in set(words(picture.description)))
    return Picture(picture.citation, picture.url, picture.description, picture.at, round(shows, 6))


def _written(picture: Picture, worth: Mapping[str, float]) -> str:
    """The labels on a picture that share words with the question and have a value ("Interpolation: Cubic")."""
    labelled = (piece for piece in picture.pieces if len(piece) <= _LONGEST_PIECE and _LABELLED.match(piece))
    scored = {piece: fsum(worth.get(word, 0.0) for word in set(words(piece))) for piece in labelled}
    telling = sorted((piece for piece, score in scored.items() if score), key=lambda piece: -scored[piece])
    return "; ".join(inline(piece) for piece in telling[:_PIECES])


def _picture(citation: Citation, unit: Unit) -> Picture | None:
    if unit.kind != "image":
        return None
    link, _, description = unit.text.partition("\n")
    found = _URL.search(link)
    return Picture(citation, found[1], _QUOTE_MARK.sub("", description), unit.start) if found else None
