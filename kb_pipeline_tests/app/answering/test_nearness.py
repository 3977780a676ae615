"""How near texts are to a question, and which passage a line without a reference is from."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.answering.nearness import Nearness, Suggesting, nearness_of
from kb_pipeline.models.base import Embedder
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline_tests.app.grounding.passages import citation

RED = "Press the red key to reset the lamp."
GLASS = "The shade is made of coloured glass."


@pytest.fixture(scope="module")
def nearness() -> Nearness:
    return Nearness(HashingEmbedder())


def test_the_text_that_answers_is_the_nearest(nearness: Nearness) -> None:
    red, glass = nearness.scores("How do I reset the lamp?", [RED, GLASS])
    assert red > glass


def test_no_text_has_no_score(nearness: Nearness) -> None:
    assert nearness.scores("How?", []) == []


def test_texts_can_be_compared_together(nearness: Nearness) -> None:
    question = "Of which glass is the red lamp?"
    alone = nearness.answering(question, [RED, GLASS])
    assert nearness.answering(question, [RED, GLASS], [[0], [1]]) == pytest.approx(alone)
    (both,) = nearness.answering(question, [RED, GLASS], [[0, 1]])
    assert both > max(alone)


def test_an_empty_text_is_compared_as_well(nearness: Nearness) -> None:
    scores = nearness.scores("How?", ["", RED])
    assert len(scores) == 2
    assert np.isfinite(scores).all()


def test_the_comparison_by_an_embedder_is_made_once() -> None:
    embedder = HashingEmbedder()
    assert nearness_of(embedder) is nearness_of(embedder)


class Service(HashingEmbedder):
    """An embedder that has no vectors of words, as one that is a service."""

    word_vectors = False

    def embed_passages(self, texts: Sequence[str]) -> list:  # type: ignore[type-arg]
        raise AssertionError("a service is paid for each text")


def test_a_service_is_not_asked_for_each_sentence() -> None:
    assert isinstance(Service(), Embedder)
    assert len(Nearness(Service()).scores("How?", [RED])) == 1


def suggested(said: str, *passages: str, nearness: Nearness) -> int | None:
    citations = [citation(passage, number) for number, passage in enumerate(passages, 1)]
    found = Suggesting(nearness)(said, citations)
    return found.number if found else None


def test_the_passage_that_is_clearly_nearest_is_suggested(nearness: Nearness) -> None:
    assert suggested("Press the red key to reset the lamp", GLASS, RED, nearness=nearness) == 2


def test_none_is_suggested_where_two_are_as_near_or_none_is_near(nearness: Nearness) -> None:
    assert suggested(RED, RED, RED, nearness=nearness) is None
    assert suggested("Bananas ripen in autumn", GLASS, RED, nearness=nearness) is None
    assert suggested(RED, nearness=nearness) is None


def test_of_a_long_passage_the_part_that_says_it_counts(nearness: Nearness) -> None:
    long = " ".join(f"Clause {number} of the contract concerns deliveries." for number in range(60))
    assert suggested(RED, GLASS, f"{long} {RED}", nearness=nearness) in (2, None)
