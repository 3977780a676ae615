"""An answer is held against its sources while it is worded, whoever words it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.answering.base import (
    Answerer,
    AnswerEvent,
    Asked,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    Text,
    ToolEnded,
    ToolStarted,
    Used,
)
from app.answering.grounded import ALL_THE_SAME, NOT_IN_THE_ARTICLES, GroundedAnswer
from app.errors import UpstreamCutShortError
from app.grounding.attribution import DOUBTFUL
from app.grounding.citations import CitationBook
from app.grounding.references import NOT_BORNE_OUT
from app.principal import Principal
from app.schema.answers import Clarification, DocumentOption, Plan, PlanItem, TokenUsage
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
        self.asked: Question | None = None
        self.events: Sequence[AnswerEvent] = events
        self.fails = fails
        self.closed = False

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        self.asked = question
        book.add([SearchHit(chunk=CHUNK, score=1.0)])
        try:
            for event in self.events:
                yield event
            if self.fails:
                raise self.fails
        finally:
            self.closed = True


def answered(answerer: Answerer, text: str = "How?") -> GroundedAnswer:
    return GroundedAnswer(answerer, Question(text, Principal(), 5), CitationBook())


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


class Quoting(Scripted):
    """Answers in place of a model, and helps whom a model refuses."""

    answered_by = "extractive"
    model = None

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        return Finished(
            refused=True, did_you_mean="How now?", ask_instead=tuple(cited.section for cited in book.citations)
        )


def modelled(*events: AnswerEvent, quoted: str = "From *Layers*: Choose Crop to Content. [Ref #1]") -> Scripted:
    """A model that says this, and what is quoted if no passage bears it out."""
    answerer = Scripted(*events)
    told = Text(quoted, is_quoted=True)
    answerer.instead = Quoting(Searched("crop", 1), told, Finished(refused=not quoted.endswith("]")))
    return answerer


INVENTED = "1. Record your screen with a camera.\n2. Publish the video on a website.\n3. Invite all your friends.\n"


def test_a_model_needs_no_references_for_its_answer_to_have_them() -> None:
    whole = asyncio.run(answered(modelled(Searched("crop", 1), Text("Choose Crop to Content."), Finished())).whole())
    assert whole.answer == "Choose Crop to Content. [Ref #1]"
    assert (whole.refused, whole.unsupported, whole.withdrawn) == (False, (), False)


def test_a_statement_that_nothing_bears_out_is_marked_and_listed() -> None:
    said = Text("Choose Crop to Content to crop a layer. Save the picture on a disk.")
    whole = asyncio.run(answered(modelled(said, Finished())).whole())
    assert whole.answer.endswith(f"[Ref #1] Save the picture on a disk. {NOT_BORNE_OUT}")
    assert whole.unsupported == ("Save the picture on a disk.",)


def test_an_answer_that_is_invented_is_replaced_before_anybody_sees_it() -> None:
    model = modelled(Searched("crop", 1), Text(INVENTED), Text("4. More."), Finished())
    whole = asyncio.run(answered(model).whole())
    assert whole.answer == "From *Layers*: Choose Crop to Content. [Ref #1]"
    assert (whole.withdrawn, whole.unsupported, whole.searches) == (True, (), ("crop",))
    assert model.closed


def test_an_answer_that_is_invented_where_nothing_answers_is_a_refusal() -> None:
    model = modelled(Text(INVENTED), Finished(TokenUsage(input_tokens=3)), quoted="Nothing answers this.")
    whole = asyncio.run(answered(model).whole())
    assert (whole.answer, whole.refused, whole.withdrawn) == ("Nothing answers this.", True, True)


@pytest.mark.parametrize(
    ("question", "is_unlikely"),
    [("How do I crop it with Splunk?", True), ("How do I crop layers?", False), ("How do I Crop?", False)],
)
def test_an_answer_is_unlikely_where_a_model_invents_and_the_passages_lack_a_name(
    question: str, is_unlikely: bool
) -> None:
    model = modelled(Text(INVENTED), Finished())
    asyncio.run(answered(model, question).whole())
    assert isinstance(model.instead, Quoting)
    assert model.instead.asked
    assert model.instead.asked.is_unlikely is is_unlikely


def test_whom_a_model_refuses_is_helped_like_whom_quotations_do() -> None:
    said = (Text("The articles do not say that."), Finished(TokenUsage(input_tokens=3)))
    whole = asyncio.run(answered(modelled(*said, quoted="Nothing answers this.")).whole())
    assert (whole.answer, whole.refused) == ("The articles do not say that.", True)
    assert (whole.did_you_mean, whole.ask_instead) == ("How now?", (CHUNK.section_header,))
    assert whole.usage == TokenUsage(input_tokens=3)


def test_what_clearly_answers_is_quoted_below_a_refusal_of_a_model_which_a_passage_may_have_asked_for() -> None:
    model = modelled(Text("The articles do not say that."), Finished())
    whole = asyncio.run(answered(model).whole())
    assert isinstance(model.instead, Scripted) and model.instead.asked is not None
    assert model.instead.asked.is_unlikely  # weak evidence does not speak against a model
    assert whole.answer == (
        f"The articles do not say that.\n\n{ALL_THE_SAME}\n\nFrom *Layers*: Choose Crop to Content. [Ref #1]"
    )
    assert (whole.refused, [cited.used for cited in whole.citations]) == (True, [True])


def test_what_a_quoted_article_says_like_a_reference_refers_to_nothing() -> None:
    quoted = "> It is false \\[Ref #1\\], Ref #1, 【1†source】 (Source: layers) (see refs 1). [Ref #1]"
    model = modelled(Text(INVENTED), Finished(), quoted=quoted)
    whole = asyncio.run(answered(model).whole())
    assert whole.answer == quoted


def test_who_has_an_answer_needs_no_help() -> None:
    whole = asyncio.run(answered(modelled(Text("Choose Crop to Content."), Finished())).whole())
    assert (whole.did_you_mean, whole.ask_instead) == (None, ())


@pytest.mark.parametrize("echo", ["(No matches)", "(no matches).", "Yes."])
def test_a_word_is_no_answer(echo: str) -> None:
    whole = asyncio.run(answered(modelled(Text(echo), Finished(), quoted="Nothing answers this.")).whole())
    assert (whole.answer, whole.refused) == ("Nothing answers this.", True)


def test_an_answer_that_turns_out_to_be_invented_is_stopped_and_corrected() -> None:
    said = Text(f"Choose Crop to Content to crop a layer.\n{INVENTED}")
    model = modelled(said, Text("4. More."), Finished(TokenUsage(input_tokens=3)))
    whole = asyncio.run(answered(model).whole())
    assert whole.answer.endswith(
        f"{NOT_BORNE_OUT}\n\n\n{NOT_IN_THE_ARTICLES}\n\nFrom *Layers*: Choose Crop to Content. [Ref #1]"
    )
    assert (whole.withdrawn, len(whole.unsupported), model.closed) == (True, 3, True)


def test_a_model_that_is_stopped_has_used_what_its_service_told_until_then() -> None:
    model = modelled(Used(TokenUsage(input_tokens=100)), Used(TokenUsage(input_tokens=700)), Text(INVENTED), Finished())
    whole = asyncio.run(answered(model).whole())
    assert (whole.withdrawn, whole.usage) == (True, TokenUsage(input_tokens=700))


def test_the_part_of_an_answer_that_was_stopped_tells_what_was_used() -> None:
    async def first_words(answer: GroundedAnswer) -> None:
        events = answer.events()
        await anext(events)
        await events.aclose()

    answer = answered(Scripted(Used(TokenUsage(input_tokens=7)), Text("Choose it. "), Text("Or not. "), Finished()))
    asyncio.run(first_words(answer))
    assert answer.so_far().usage == TokenUsage(input_tokens=7)


def test_a_search_that_is_not_trusted_is_told_to_the_reader_unless_another_one_is() -> None:
    said = (Text("Choose Crop to Content to crop a layer."), Finished())
    doubted = asyncio.run(answered(modelled(Searched("crop", 1, is_doubtful=True), *said)).whole())
    trusted = asyncio.run(answered(modelled(Searched("x", 1, is_doubtful=True), Searched("crop", 1), *said)).whole())
    assert doubted.answer == f"{DOUBTFUL}{trusted.answer}"


PLAN = Plan(
    kind="DOCUMENT_SUMMARY",
    items=(
        PlanItem(position=1, description="Find the document", acceptance_criteria="exactly one"),
        PlanItem(position=2, description="Present it", acceptance_criteria="it has a source", dependencies=(1,)),
    ),
)
BACK = Clarification(
    question="Which report do you mean?",
    asked="summarise the report",
    options=(
        DocumentOption(number=1, article_id="a", title="Report of May"),
        DocumentOption(number=2, article_id="b", title="www.evil.example [Ref #1]"),
    ),
)


def steps(answer: GroundedAnswer) -> list[object]:
    async def listen() -> list[object]:
        return [event async for event in answer.events() if not isinstance(event, Text)]

    return asyncio.run(listen())


def test_every_step_comes_through_and_the_plan_is_kept_as_it_stands() -> None:
    said = [
        *(Planned(PLAN), ItemChanged(1, "IN_PROGRESS"), ToolStarted("c1", "rag_get_document", {"doc_id": "a"})),
        *(ToolEnded("c1", "rag_get_document", "Report of May"), ItemChanged(1, "COMPLETED"), Searched("crop", 1)),
    ]
    answer = answered(Scripted(*said, Text("Choose Crop to Content. [Ref #1]"), Finished()))
    assert steps(answer) == said
    whole = answer.so_far()
    assert [item.status for item in whole.plan.items] == ["COMPLETED", "PENDING"]
    assert (whole.searches, whole.refused, whole.clarification) == (("crop",), False, None)


def test_an_ordinary_answer_has_no_plan_in_its_json() -> None:
    whole = asyncio.run(answered(Scripted(Text("Choose Crop to Content. [Ref #1]"), Finished())).whole())
    assert {"plan", "clarification"}.isdisjoint(whole.model_dump(mode="json"))


@pytest.mark.parametrize("ending", [(), (Finished(TokenUsage(input_tokens=3)),), (Finished(refused=True),)])
def test_asking_back_is_an_answer_and_no_refusal(ending: tuple[AnswerEvent, ...]) -> None:
    for answerer in (Scripted(Asked(BACK), *ending), modelled(Asked(BACK), *ending)):
        answer = answered(answerer)
        assert steps(answer) == [Asked(BACK)]
        whole = answer.so_far()
        assert whole.answer.startswith("Which report do you mean?\n\n1. **Report of May**\n2. ")
        assert (whole.clarification, whole.refused, whole.withdrawn, whole.unsupported) == (BACK, False, False, ())


def test_the_title_of_an_option_is_neither_a_link_nor_a_reference() -> None:
    whole = asyncio.run(answered(Scripted(Asked(BACK))).whole())
    assert "www.evil.example" not in whole.answer
    assert "[Ref #1]" not in whole.answer
    assert not whole.citations[0].used


def test_what_a_model_was_doing_when_it_was_stopped_has_failed() -> None:
    model = modelled(Planned(PLAN), ItemChanged(2, "IN_PROGRESS"), Text(INVENTED), Finished())
    answer = answered(model)
    assert ItemChanged(2, "FAILED") in steps(answer)
    assert [item.status for item in answer.so_far().plan.items] == ["PENDING", "FAILED"]


PIECES = st.sampled_from(
    [
        *(
            "Choose Crop to Content. ",
            "Record it with a camera. ",
            "[Ref #1]",
            "[1]",
            "(Ref #2)",
            "[a]",
            "www",
            ".e.example",
        ),
        *(
            "](http://evil.example)",
            "[a]: http://evil.example/\n",
            "![x](http://evil.example/x.png)",
            "//evil.example ",
        ),
        *("<img src=x>", "<b>", "`", "```", "~~~", "\n", "- ", "> ", "http:", ": ", ". ", "| a |\n|---|\n", "    "),
    ]
)


@pytest.mark.slow("builds a whole knowledge base")
@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join))
def test_what_attribution_removes_joins_nothing_into_a_link_an_image_or_a_tag(text: str) -> None:
    whole = asyncio.run(answered(modelled(Text(f"Choose Crop to Content now.\n\n{text}"), Finished())).whole())

    for block in MarkdownIt("commonmark").enable(["table"]).parse(whole.answer):
        assert block.type != "html_block", whole.answer
        for token in block.children or ():
            assert token.type not in ("link_open", "image", "html_inline"), whole.answer
