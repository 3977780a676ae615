"""Is it known already? Compares a proposal with what is published, and with what was proposed before."""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kb_pipeline.contributions.base import Contribution, NearPassage
from kb_pipeline.errors import IndexMissingError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.base import Embedder
from kb_pipeline.records import ContributionState, Record
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.steps.chunk import plain_text

SAME = 0.9
"""Similarity from which two texts are taken to say the same."""
_NEAREST = 3
"""Sections that a proposer is shown."""
_MOST_CHARACTERS = 4000
"""Characters that are compared: more than an embedding model reads."""
_WORD = re.compile(r"\w+")


class Double(Record):
    """A contribution that says the same; ``similarity`` is 1 for the same words."""

    id: str
    description: str
    state: ContributionState
    similarity: float


@dataclass(frozen=True)
class Neighbours:
    """What is near to a proposal. ``embedding`` is its vector as base64, "" if nothing is published yet."""

    nearest: tuple[NearPassage, ...] = ()
    doubles: tuple[Double, ...] = ()
    embedding_model: str = ""
    embedding: str = ""

    @property
    def is_known(self) -> bool:
        """Whether a published passage says the same."""
        return any(passage.similarity >= SAME for passage in self.nearest)


def find_neighbours(
    workspace: Workspace,
    description: str,
    content: str,
    others: Iterable[Contribution],
    visible: SearchFilter | None = None,
) -> Neighbours:
    """Compare a proposal with the published passages that ``visible`` lets through, and with other contributions.

    Before anything is published, only the same words are recognised.

    Raises:
        KnowledgeBaseError: the index or the embedding model cannot be used.
    """
    text, earlier = _text(description, content), list(others)
    try:
        reader = workspace.reader()
    except IndexMissingError:
        return Neighbours(doubles=_doubles(text, None, earlier, {}))
    hits = reader.search(text, top=_NEAREST, mode="vector", filters=visible)
    nearest = tuple(
        NearPassage(
            chunk_id=hit.chunk.id,
            article_id=hit.chunk.article_id,
            title=hit.chunk.title,
            section=hit.chunk.section_header,
            similarity=round(min(1.0, hit.vector_score or 0.0), 4),
        )
        for hit in hits
    )
    vectors = _vectors(reader.embedder, text, earlier)
    own = vectors[""]
    return Neighbours(
        nearest=nearest,
        doubles=_doubles(text, own, earlier, vectors),
        embedding_model=reader.embedder.model_id,
        embedding=base64.b64encode(own.astype("<f4").tobytes()).decode(),
    )


def _text(description: str, content: str) -> str:
    return f"{description}\n{plain_text(content)}"[:_MOST_CHARACTERS]


def _vectors(embedder: Embedder, text: str, earlier: Sequence[Contribution]) -> dict[str, npt.NDArray[np.float32]]:
    """Return the vectors of the earlier contributions by id, and under "" that of the text; stored ones are reused."""
    model, vectors = embedder.model_id, {}
    for one in earlier:
        if one.embedding_model == model:
            vectors[one.id] = np.frombuffer(base64.b64decode(one.embedding), "<f4").astype(np.float32)
    missing = [one for one in earlier if one.id not in vectors]
    made = embedder.embed([text, *(_text(one.description, one.content) for one in missing)])
    return vectors | dict(zip(["", *(one.id for one in missing)], made, strict=True))


def _doubles(
    text: str,
    own: npt.NDArray[np.float32] | None,
    earlier: Iterable[Contribution],
    vectors: dict[str, npt.NDArray[np.float32]],
) -> tuple[Double, ...]:
    words = _words(text)
    duplicates = []
    for one in earlier:
        is_same = words == _words(_text(one.description, one.content))
        similarity = 1.0 if is_same else 0.0 if own is None else min(1.0, float(own @ vectors[one.id]))
        if similarity >= SAME:
            double = Double(id=one.id, description=one.description, state=one.state, similarity=round(similarity, 4))
            duplicates.append(double)
    return tuple(sorted(duplicates, key=lambda double: -double.similarity))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
