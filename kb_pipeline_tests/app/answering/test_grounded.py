"""An answer is held against its sources while it is worded, whoever words it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, Text
from app.answering.grounded import GroundedAnswer
from app.errors import UpstreamCutShortError
from app.grounding.citations import CitationBook
from app.principal import Principal
from app.schema import TokenUsage
from kb_pipeline.records import Chunk, SearchHit

CHUNK = Chunk(
    id="layers-1",
    article_id="layers",
    chunk_index=0,
    title="Layers",
    section_header="Crop",
    heading_path=("Layers", "Crop"),
    content="Choose Crop to Content to crop a layer.",
    image_urls=("layers/images/crop.png",),
    content_hash="0",
)


class Scripted(Answerer):
    """Finds one passage and says what it is told to."""

    answered_by = "agent"
    model = "scripted"

    def __init__(self, *events: AnswerEvent, fails: Exception | None = None) -> None:
        self.events: Sequence[AnswerEvent] = events
        self.fails = fails
        self.closed = False

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        book.add([SearchHit(chunk=CHUNK, score=1.0)])
        try:
            for event in self.events:
                yield event
            if self.fails:
                raise self.fails
        finally:
            self.closed = True


def answered(answerer: Answerer) -> GroundedAnswer:
    return GroundedAnswer(answerer, Question("How?", Principal(), 5), CitationBook())


def test_only_references_and_images_of_found_passages_come_through() -> None:
    said = [
        Text("Crop it [Re"),
        Text("f #1], not [Ref #7]. ![x](attachm"),
        Text("ent:crop.png) ![y](http://evil/a.png)"),
    ]
    answer = answered(Scripted(Searched("crop", 1), *said, Finished(TokenUsage(input_tokens=3, output_tokens=4))))
    whole = asyncio.run(answer.whole())
    assert whole.answer.startswith("Crop it [Ref #1], not. ![x](/api/images/layers/images/crop.png)")
    assert "evil" not in whole.answer
    assert (whole.searches, whole.model, whole.usage.input_tokens) == (("crop",), "scripted", 3)
    assert whole.citations[0].used


def test_the_pieces_are_the_whole() -> None:
    async def pieces(answer: GroundedAnswer) -> list[str]:
        return [event.delta async for event in answer.events() if isinstance(event, Text)]

    answer = answered(Scripted(*(Text(letter) for letter in "Choose *Crop* [1] `[2]`."), Finished()))
    assert "".join(asyncio.run(pieces(answer))) == answer.so_far().answer == "Choose *Crop* [Ref #1] `[2]`."


@pytest.mark.parametrize(
    ("text", "finished", "refused"),
    [
        ("Crop it [Ref #1].", Finished(), False),
        ("The passages do not say.", Finished(), True),
        ("It is not there, [Ref #1] is close.", Finished(refused=True), True),
    ],
)
def test_an_answer_that_says_so_or_refers_to_nothing_is_a_refusal(text: str, finished: Finished, refused: bool) -> None:
    assert asyncio.run(answered(Scripted(Text(text), finished)).whole()).refused is refused


def test_the_part_of_an_answer_that_was_stopped_is_no_refusal() -> None:
    assert answered(Scripted(Text("Choose"))).so_far().refused is False


def test_an_answer_without_an_end_was_cut_off() -> None:
    answer = answered(Scripted(Text("Choose")))
    with pytest.raises(UpstreamCutShortError):
        asyncio.run(answer.whole())
    assert answer.so_far().answer == "Choose"


def test_a_failure_comes_through_after_what_was_said() -> None:
    with pytest.raises(ValueError, match="no"):
        asyncio.run(answered(Scripted(Text("x"), fails=ValueError("no"))).whole())


def test_who_stops_listening_stops_the_answerer() -> None:
    async def listen_to_one(answerer: Answerer) -> None:
        events = answered(answerer).events()
        await anext(events)
        await events.aclose()

    scripted = Scripted(Text("one "), Text("two "), Finished())
    asyncio.run(listen_to_one(scripted))
    assert scripted.closed
