"""What is looked up for a question, and which of what was found a model reads."""

import asyncio
from collections.abc import Mapping, Sequence

from app.answering.base import Message, Question
from app.answering.query import search_for, within_room
from app.callers.picture import Picture
from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter
from kb_pipeline_tests.app.grounding.hits import covering, hit, in_section

RADIUS = "How do I change the radius?"
READ = "Drop shadow"
BOTH = f"{RADIUS}\n{READ}"
ANN = Principal("ann", ("group-hr",))
SECTION = [in_section("guide", at) for at in range(3)]


class Known(Retrieval):
    """Finds what it was told to find, and notes what it was asked."""

    def __init__(self, hits: Mapping[str, Sequence[SearchHit]]) -> None:
        self.hits = hits
        self.asked: list[object] = []

    async def search(
        self,
        question: str,
        who: Principal,
        *,
        top: int,
        mode: SearchMode = "hybrid",
        filters: SearchFilter | None = None,
    ) -> list[SearchHit]:
        self.asked.append((question, who, top))
        return list(self.hits[question])


def found(known: Known, *before: str, picture: Picture | None = None) -> tuple[str, list[SearchHit]]:
    history = tuple(Message("user", asked) for asked in before)
    return asyncio.run(search_for(Question(RADIUS, ANN, 7, history, picture=picture), known))


def test_a_question_that_makes_sense_alone_is_one_search() -> None:
    known = Known({RADIUS: SECTION})
    assert found(known) == found(known, "How do I add a shadow?") == (RADIUS, SECTION)
    assert known.asked == [(RADIUS, ANN, 7)] * 2


def test_with_a_picture_the_search_is_taken_whose_best_hit_covers_more_of_what_was_asked() -> None:
    picture = Picture(b"", "image/png", 1, 1, READ)
    known = Known({RADIUS: [covering(0.4)], BOTH: [covering(0.6)]})
    assert found(known, picture=picture) == (BOTH, [covering(0.6)])
    assert known.asked == [(RADIUS, ANN, 7), (BOTH, ANN, 7)]
    known = Known({RADIUS: [covering(0.6)], BOTH: [covering(0.4)]})
    assert found(known, picture=picture) == (RADIUS, [covering(0.6)])


def test_the_hits_of_two_questions_take_turns() -> None:
    radius, shadow = "How do I change the radius?", "How do I add a big shadow?"
    both = Question(f"{radius} {shadow}", ANN, 3)
    known = Known({radius: SECTION, shadow: [hit("shadow", "other", "x")]})
    query, hits = asyncio.run(search_for(both, known))
    assert query == both.text
    assert [each.chunk.article_id for each in hits] == ["guide", "other", "guide"]


def test_a_model_reads_the_best_section_and_each_other_that_fits_into_the_room() -> None:
    sizes = [9000, 2000, 7000, 900]
    hits = [hit(str(number), "guide", "x" * size) for number, size in enumerate(sizes)]
    assert [len(each.chunk.content) for each in within_room(hits)] == [9000]
    assert [len(each.chunk.content) for each in within_room(hits[1:])] == [2000, 900]
    assert within_room([]) == []
