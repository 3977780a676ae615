"""How near texts are to a question or a statement, by the vectors of their words: which sentence answers, where from.

The embedder of the index compares, if it runs on this machine and has vectors of words; else one that counts words and
their parts does, because a service would have to be asked, and paid, for each sentence.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from app.language.words import readable
from app.schema.passages import Citation
from kb_pipeline.models.base import EmbeddedQuestion, Embedder
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.steps.late_interaction import EmbeddedPassage, max_sim

_OF_WHOLE = 0.25
"""Weight of the vectors of whole texts beside those of words: the weight that the search has for sections."""

_KEPT = 4096
"""Sentences whose vectors are kept, 3 KB each: who asks about a section often asks about it again."""
_ASKED = 16
"""Questions whose vectors are kept: one is compared with up to three passages and their pictures."""


class Nearness:
    """Compares texts with one question or statement."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder if embedder.word_vectors else HashingEmbedder()
        self._question = lru_cache(maxsize=_ASKED)(self._embedder.embed_question)
        self._passage = lru_cache(maxsize=_KEPT)(self._embedded)

    def scores(self, said: str, texts: Sequence[str]) -> list[float]:
        """How near each of the texts is to all words of what is said: about 0 to 1.25, comparable for one only.

        Raises:
            ModelError: the files of the model are damaged.
        """
        return _scores(self._question(said), [[self._passage(text)] for text in texts])

    def answering(
        self, question: str, texts: Sequence[str], groups: Sequence[Sequence[int]] | None = None
    ) -> list[float]:
        """How near each group of texts is to the words of a question that say something about the matter.

        Stop words stand in every sentence and tell none from another. A group holds the places of its texts; without
        groups, each text is one. Each text is embedded once, however many groups it is in.

        Raises:
            ModelError: the files of the model are damaged.
        """
        embedded, passages = self._question(question), [self._passage(text) for text in texts]
        chosen = [[at] for at in range(len(texts))] if groups is None else groups
        return _scores(embedded, [[passages[at] for at in group] for group in chosen], embedded.telling)

    def _embedded(self, text: str) -> EmbeddedPassage:
        (passage,) = self._embedder.embed_passages([text])
        return passage


def _scores(
    said: EmbeddedQuestion, groups: Sequence[Sequence[EmbeddedPassage]], telling: Sequence[Sequence[int]] = ()
) -> list[float]:
    if not groups:
        return []
    vectors = np.array([np.mean([passage.vector for passage in group], axis=0) for group in groups])
    cosines = vectors @ said.vector / np.linalg.norm(vectors, axis=1)
    if said.words is None:
        return [float(cosine) for cosine in cosines]
    covered = max_sim(said.words, [b"".join(passage.words for passage in group) for group in groups])
    of_words = covered.of_words(telling).mean(axis=1) if telling else covered.scores
    return [float(score) for score in of_words + _OF_WHOLE * cosines]


@lru_cache(maxsize=4)
def nearness_of(embedder: Embedder) -> Nearness:
    """The comparison by an embedder, made once."""
    return Nearness(embedder)


_LEAST, _LEADS = 0.7, 0.1
"""Measured with MiniLM on 110 good answers without their references among five passages: half get a suggestion, each of
them the right one. So do 18 % of sentences that say that the articles do not answer; below 0.6, 40 % of them do."""
_PIECE = 700
"""Characters of a passage that are embedded as one, so that none is longer than what a small model reads."""


class Suggesting:
    """Finds the passage that a line without a reference is from, for one answer."""

    def __init__(self, nearness: Nearness) -> None:
        self._nearness = nearness

    def __call__(self, said: str, citations: Sequence[Citation]) -> Citation | None:
        """The passage that is clearly nearest to what is said, if one is."""
        pieces = [(citation, text) for citation in citations for text in _pieces(citation)]
        scores = self._nearness.scores(said, [text for _, text in pieces])
        best: dict[int, float] = {}
        for (citation, _), score in zip(pieces, scores, strict=True):
            best[citation.number] = max(score, best.get(citation.number, 0.0))
        by_score = sorted(citations, key=lambda citation: -best[citation.number])
        if not by_score or best[by_score[0].number] < _LEAST:
            return None
        leads = len(by_score) == 1 or best[by_score[0].number] - best[by_score[1].number] >= _LEADS
        return by_score[0] if leads else None


def _pieces(citation: Citation) -> Iterator[str]:
    text = readable(citation.passage)
    for start in range(0, max(1, len(text)), _PIECE):
        yield f"{citation.section}\n{text[start : start + _PIECE]}"
