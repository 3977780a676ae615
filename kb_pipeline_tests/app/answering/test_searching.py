"""What is looked up for a question, and what is read around what was found."""

import asyncio
from collections.abc import Mapping, Sequence

from app.answering.base import Message, Question
from app.answering.query import read_around, search_for
from app.grounding.citations import CitationBook
from app.principal import Principal
from app.retrieval import Retrieval
from kb_pipeline.records import Chunk, SearchHit, SearchMode
from kb_pipeline_tests.app.grounding.hits import covering, in_section

RADIUS = "How do I change the radius?"
SHADOW = "How do I add a shadow?"
BOTH = f"{RADIUS}\n{SHADOW}"
ANN = Principal("ann", ("group-hr",))
SECTION = [in_section("guide", at) for at in range(3)]


class Known(Retrieval):
    """Finds what it was told to find, and notes what it was asked."""

    def __init__(self, hits: Mapping[str, Sequence[SearchHit]], section: Sequence[SearchHit] = ()) -> None:
        self.hits, self.section = hits, section
        self.asked: list[object] = []

    async def search(self, question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid") -> list[SearchHit]:
        self.asked.append((question, who, top))
        return list(self.hits[question])

    async def sections(self, chunks: Sequence[Chunk], who: Principal) -> list[SearchHit]:
        self.asked.append(([chunk.id for chunk in chunks], who))
        return list(self.section)


def follow_up(retrieval: Retrieval, *before: str) -> tuple[str, list[SearchHit]]:
    history = tuple(Message("user", asked) for asked in before)
    return asyncio.run(search_for(Question(RADIUS, ANN, 7, history), retrieval))


def test_a_first_question_is_one_search() -> None:
    known = Known({RADIUS: SECTION})
    assert follow_up(known) == (RADIUS, SECTION)
    assert known.asked == [(RADIUS, ANN, 7)]


def test_of_two_searches_the_one_is_taken_whose_best_hit_covers_more_of_what_was_asked() -> None:
    known = Known({RADIUS: [covering(0.4)], BOTH: [covering(0.6)]})
    assert follow_up(known, SHADOW) == (BOTH, [covering(0.6)])
    assert known.asked == [(RADIUS, ANN, 7), (BOTH, ANN, 7)]
    assert follow_up(Known({RADIUS: [covering(0.6)], BOTH: [covering(0.4)]}), SHADOW) == (RADIUS, [covering(0.6)])


def test_what_stands_beside_a_found_passage_is_entered_after_all_that_was_found() -> None:
    known, book = Known({}, SECTION), CitationBook()
    told = asyncio.run(read_around([SECTION[1]], ANN, known, book))
    assert [(c.number, c.chunk_id, c.follows, c.precedes) for c in told] == [
        (1, "guide-1", None, None), (2, "guide-2", 1, None), (3, "guide-0", None, 1)
    ]  # fmt: skip
    assert tuple(told) == book.citations
    assert known.asked == [(["guide-1"], ANN)]
