"""An answer is held against its sources while it is worded, whoever words it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.answering.base import (
    Answerer,
    AnswerEvent,
    AskedBack,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    TextPart,
    ToolEnded,
    ToolStarted,
)
from app.answering.grounded import GroundedAnswer
from app.answering.nearness import Nearness
from app.callers.principal import Principal
from app.errors import AnswerError, UpstreamCutShortError
from app.grounding.citations import CitationBook
from app.grounding.statements import Statement
from app.judging.base import Judge, Judged, Verdict
from app.language.messages import Messages
from app.schema.answers import Clarification, DocumentOption, Plan, PlanItem, TokenUsage
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import Chunk, SearchHit

SAY = Messages.of("en")
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
        TextPart("Crop it [Re"),
        TextPart("f #1], not [Ref #7]. ![x](attachm"),
        TextPart("ent:crop.png) ![y](http://evil/a.png)"),
    ]
    answer = answered(Scripted(Searched("crop", 1), *said, Finished(TokenUsage(input_tokens=3, output_tokens=4))))
    whole = asyncio.run(answer.whole())
    assert whole.answer.startswith("Crop it [Ref #1], not. ![x](/api/images/layers/images/crop.png)")
    assert "evil" not in whole.answer
    assert (whole.searches, whole.model, whole.usage.input_tokens) == (("crop",), "scripted", 3)
    assert whole.citations[0].used


def test_the_pieces_are_the_whole() -> None:
    async def pieces(answer: GroundedAnswer) -> list[str]:
        return [event.delta async for event in answer.events() if isinstance(event, TextPart)]

    answer = answered(Scripted(*(TextPart(letter) for letter in "Choose *Crop* [1] `[2]`."), Finished()))
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
    assert asyncio.run(answered(Scripted(TextPart(text), finished)).whole()).refused is refused


def test_the_part_of_an_answer_that_was_stopped_is_no_refusal() -> None:
    assert answered(Scripted(TextPart("Choose"))).so_far().refused is False


def test_an_answer_without_an_end_was_cut_off() -> None:
    answer = answered(Scripted(TextPart("Choose\n")))
    with pytest.raises(UpstreamCutShortError):
        asyncio.run(answer.whole())
    assert answer.so_far().answer == "Choose\n"


def test_a_failure_comes_through_after_what_was_said() -> None:
    with pytest.raises(ValueError, match="no"):
        asyncio.run(answered(Scripted(TextPart("x"), fails=ValueError("no"))).whole())


def test_who_stops_listening_stops_the_answerer() -> None:
    async def listen_to_one(answerer: Answerer) -> None:
        events = answered(answerer).events()
        await anext(events)
        await events.aclose()

    scripted = Scripted(TextPart("one "), TextPart("two "), Finished())
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


QUOTED = "From *Layers*: Choose Crop to Content. [Ref #1]"


def modelled(*events: AnswerEvent, fails: Exception | None = None, quoted: Finished | None = None) -> Scripted:
    """A model that says this, and what is quoted instead, which ends like ``quoted``."""
    answerer = Scripted(*events, fails=fails)
    answerer.instead = Quoting(Searched("crop", 1), TextPart(QUOTED, is_quoted=True), quoted or Finished())
    return answerer


def test_what_a_model_says_stands_as_it_was_written() -> None:
    said = "Choose *Crop to Content* [Ref #1]. It makes the layer as small as what it shows, nothing more [Ref #1]."
    whole = asyncio.run(answered(modelled(Searched("crop", 1), TextPart(said), Finished())).whole())
    assert whole.answer == said
    assert (whole.refused, whole.unsupported) == (False, ())


def test_a_value_that_the_cited_passage_does_not_have_is_marked_and_its_statement_listed() -> None:
    said = "Choose Crop to Content [Ref #1]. Wait for 7 minutes after that [Ref #1]."
    whole = asyncio.run(answered(modelled(TextPart(said), Finished())).whole())
    assert whole.answer == said.replace("7 minutes", "7 minutes *(not in the source)*")
    assert whole.unsupported == ("Wait for 7 minutes after that.",)


def test_a_mark_is_in_the_language_of_the_question() -> None:
    said = TextPart("Warten Sie sieben Minuten lang [Ref #1].")
    question = "Wie lange muss ich warten, bis die Ebene zugeschnitten ist?"
    whole = asyncio.run(answered(modelled(said, Finished()), question).whole())
    assert whole.answer == "Warten Sie sieben Minuten *(nicht in der Quelle)* lang [Ref #1]."


class Near(Nearness):
    """Finds every text as near as the next one."""

    def __init__(self) -> None:
        super().__init__(HashingEmbedder())

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)


class Comparing(Scripted):
    """A model beside whose answer texts can be compared."""

    nearness = Near()


def test_a_line_without_a_reference_gets_a_suggested_one() -> None:
    answerer = Comparing(TextPart("Choose Crop to Content.\nThen crop the layer [Ref #1].\n"), Finished())
    answerer.instead = Quoting(Finished())
    whole = asyncio.run(answered(answerer).whole())
    assert whole.answer == "Choose Crop to Content. *(perhaps from [Ref #1])*\nThen crop the layer [Ref #1].\n"


def test_a_model_that_cannot_be_reached_is_replaced_by_quotations() -> None:
    model = modelled(Searched("crop", 1), TokenUsage(input_tokens=3), fails=AnswerError("away"))
    whole = asyncio.run(answered(model).whole())
    assert (whole.answer, whole.answered_by, whole.model) == (QUOTED, "extractive", None)
    assert (whole.refused, whole.searches) == (False, ("crop", "crop"))


def test_why_a_model_was_replaced_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(answered(modelled(fails=AnswerError("check KB_CHAT_API_KEY"))).whole())
    assert "check KB_CHAT_API_KEY" in caplog.text


def test_a_model_that_fails_in_the_middle_is_not_replaced() -> None:
    said = TextPart("Choose Crop to Content [Ref #1]. Then crop the layer, as small as it is [Ref #1].\n")
    answer = answered(modelled(said, fails=AnswerError("away")))
    with pytest.raises(AnswerError, match="away"):
        asyncio.run(answer.whole())
    assert answer.so_far().answer.startswith("Choose Crop to Content [Ref #1].")


def test_a_model_that_is_measured_is_not_replaced() -> None:
    question = Question("How?", Principal(), 5)
    answer = GroundedAnswer(modelled(fails=AnswerError("away")), question, CitationBook(), falls_back=False)
    with pytest.raises(AnswerError, match="away"):
        asyncio.run(answer.whole())


def test_whom_a_model_refuses_is_helped_like_whom_quotations_do() -> None:
    said = (TextPart("The articles do not say that."), Finished(TokenUsage(input_tokens=3)))
    whole = asyncio.run(answered(modelled(*said, quoted=Finished(refused=True))).whole())
    assert (whole.answer, whole.refused) == ("The articles do not say that.", True)
    assert (whole.did_you_mean, whole.ask_instead) == ("How now?", (CHUNK.section_header,))
    assert whole.usage == TokenUsage(input_tokens=3)


def test_what_surely_answers_is_quoted_below_a_refusal_of_a_model_which_a_passage_may_have_asked_for() -> None:
    model = modelled(TextPart("The articles do not say that."), Finished())
    whole = asyncio.run(answered(model).whole())
    assert whole.answer == f"The articles do not say that.\n\n{SAY('model_found_none')}\n\n{QUOTED}"
    assert (whole.refused, [cited.used for cited in whole.citations]) == (True, [True])


def test_what_is_only_close_is_not_quoted_below_a_refusal() -> None:
    model = modelled(TextPart("The articles do not say that."), Finished(), quoted=Finished(is_closest=True))
    assert asyncio.run(answered(model).whole()).answer == "The articles do not say that."


def test_what_a_quoted_article_says_like_a_reference_refers_to_nothing() -> None:
    quoted = "> It is false \\[Ref #1\\], Ref #1, 【1†source】 (Source: layers) (see refs 1). [Ref #1]"
    whole = asyncio.run(answered(Quoting(TextPart(quoted, is_quoted=True), Finished())).whole())
    assert whole.answer == quoted


def test_who_has_an_answer_needs_no_help() -> None:
    whole = asyncio.run(answered(modelled(TextPart("Choose Crop to Content [Ref #1]."), Finished())).whole())
    assert (whole.did_you_mean, whole.ask_instead) == (None, ())


def test_the_part_of_an_answer_that_was_stopped_tells_what_was_used() -> None:
    async def first_words(answer: GroundedAnswer) -> None:
        events = answer.events()
        await anext(events)
        await events.aclose()

    answer = answered(Scripted(TokenUsage(input_tokens=7), TextPart("Choose it.\n"), TextPart("Or not."), Finished()))
    asyncio.run(first_words(answer))
    assert answer.so_far().usage == TokenUsage(input_tokens=7)


def test_a_search_that_is_not_trusted_is_told_to_the_reader_unless_another_one_is() -> None:
    said = (TextPart("Choose Crop to Content to crop a layer [Ref #1]."), Finished())
    doubted = asyncio.run(answered(modelled(Searched("crop", 1, is_doubtful=True), *said)).whole())
    trusted = asyncio.run(answered(modelled(Searched("x", 1, is_doubtful=True), Searched("crop", 1), *said)).whole())
    assert doubted.answer == f"{SAY('none_answers_clearly')}\n\n{trusted.answer}"


@pytest.mark.parametrize("parts", [1, 3])
def test_what_is_folded_is_exactly_what_code_folded(parts: int) -> None:
    texts = [TextPart("> First. [Ref #1]\n\n", is_quoted=True)]
    texts += [TextPart(f"> More {part}. [Ref #1]\n\n", is_quoted=True, is_folded=True) for part in range(parts)]
    texts += [TextPart("*That is all.*", is_quoted=True)]
    whole = asyncio.run(answered(Quoting(*texts, Finished(is_closest=True))).whole())
    assert whole.folded
    start, end = whole.folded
    assert whole.answer[start:end] == "".join(text.delta for text in texts if text.is_folded)
    assert whole.is_closest


def test_what_is_folded_comes_last_and_at_once_so_that_no_reader_sees_it_unfolded() -> None:
    async def said(answer: GroundedAnswer) -> list[str]:
        return [event.delta async for event in answer.events() if isinstance(event, TextPart)]

    folded = [TextPart(f"> More {part}.\n\n", is_quoted=True, is_folded=True) for part in range(3)]
    texts = [TextPart("> First. [Ref #1]\n\n", is_quoted=True), *folded, TextPart("*That is all.*", is_quoted=True)]
    answer = answered(Quoting(*texts, Finished()))
    assert asyncio.run(said(answer)) == [texts[0].delta, "".join(text.delta for text in texts[1:])]


def test_an_answer_without_a_fold_has_none_in_its_json() -> None:
    whole = asyncio.run(answered(Quoting(TextPart(QUOTED, is_quoted=True), Finished())).whole())
    assert {"folded", "is_closest"}.isdisjoint(whole.model_dump(mode="json"))


def test_what_is_folded_of_quotations_below_a_refusal_is_cut_exactly_as_well() -> None:
    model = modelled(TextPart("The articles do not say that."), Finished())
    folded = TextPart("> More. [Ref #1]\n\n", is_quoted=True, is_folded=True)
    model.instead = Quoting(
        TextPart(f"{QUOTED}\n\n", is_quoted=True), folded, TextPart("*End.*", is_quoted=True), Finished()
    )
    whole = asyncio.run(answered(model).whole())
    assert whole.folded
    start, end = whole.folded
    assert whole.answer[start:end] == folded.delta


class Strict(Judge):
    """Finds that the first statement is contradicted, the second one unsupported, and is silent about the others."""

    name = "strict"

    def __init__(self) -> None:
        self.asked: tuple[Statement, ...] = ()

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        self.asked = tuple(statements)
        found: list[Verdict | None] = [
            Verdict("contradicted", says="Choose Crop.", passage=1),
            Verdict("unsupported"),
            Verdict("supported"),
        ]
        return Judged([*found, *[None] * len(statements)][: len(statements)], TokenUsage(input_tokens=5))


def test_a_judge_says_at_the_end_which_statements_are_not_borne_out() -> None:
    said = "Choose Scale Layer [Ref #1]. The layer turns red [Ref #1]. Choose Crop to Content [Ref #1]. It is done."
    model = modelled(TextPart(said), Finished(TokenUsage(input_tokens=3)))
    model.judge = judge = Strict()
    whole = asyncio.run(answered(model).whole())
    text, _, checked = whole.answer.partition(f"\n\n{SAY('checked')}\n\n")
    assert text == said.replace("Scale", "Scale *(not in the source)*")
    assert checked == (
        "- “Choose Scale Layer.”: the source says otherwise: “Choose Crop.” [Ref #1]\n"
        "- “The layer turns red.”: the source does not say this"
    )
    assert judge.asked[0] == Statement("Choose Scale Layer.", (1,))
    assert [*dict.fromkeys(whole.unsupported)] == ["Choose Scale Layer.", "The layer turns red."]
    assert whole.usage
    assert whole.usage.input_tokens == 8


def test_a_judge_that_finds_nothing_adds_nothing() -> None:
    model = modelled(TextPart("Choose Crop to Content [Ref #1]."), Finished())
    model.judge = Content()
    answer = answered(model)

    async def pieces() -> list[str]:
        return [event.delta async for event in answer.events() if isinstance(event, TextPart)]

    assert "" not in asyncio.run(pieces())
    assert answer.so_far().answer == "Choose Crop to Content [Ref #1]."


class Content(Strict):
    """Finds that everything is supported."""

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        return Judged([Verdict("supported") for _ in statements])


def test_a_refusal_is_not_judged() -> None:
    model = modelled(TextPart("The articles do not say that."), Finished(), quoted=Finished(refused=True))
    model.judge = judge = Strict()
    asyncio.run(answered(model).whole())
    assert judge.asked == ()


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
        return [event async for event in answer.events() if not isinstance(event, TextPart)]

    return asyncio.run(listen())


def test_every_step_comes_through_and_the_plan_is_kept_as_it_stands() -> None:
    said = [
        *(Planned(PLAN), ItemChanged(1, "IN_PROGRESS"), ToolStarted("c1", "rag_get_document", {"doc_id": "a"})),
        *(ToolEnded("c1", "rag_get_document", "Report of May"), ItemChanged(1, "COMPLETED"), Searched("crop", 1)),
    ]
    answer = answered(Scripted(*said, TextPart("Choose Crop to Content. [Ref #1]"), Finished()))
    assert steps(answer) == said
    whole = answer.so_far()
    assert [item.status for item in whole.plan.items] == ["COMPLETED", "PENDING"]
    assert (whole.searches, whole.refused, whole.clarification) == (("crop",), False, None)


def test_an_ordinary_answer_has_no_plan_in_its_json() -> None:
    whole = asyncio.run(answered(Scripted(TextPart("Choose Crop to Content. [Ref #1]"), Finished())).whole())
    assert {"plan", "clarification"}.isdisjoint(whole.model_dump(mode="json"))


@pytest.mark.parametrize("ending", [(), (Finished(TokenUsage(input_tokens=3)),), (Finished(refused=True),)])
def test_asking_back_is_an_answer_and_no_refusal(ending: tuple[AnswerEvent, ...]) -> None:
    for answerer in (Scripted(AskedBack(BACK), *ending), modelled(AskedBack(BACK), *ending)):
        answer = answered(answerer)
        assert steps(answer) == [AskedBack(BACK)]
        whole = answer.so_far()
        assert whole.answer.startswith("Which report do you mean?\n\n1. Report of May\n2. ")
        assert (whole.clarification, whole.refused, whole.unsupported) == (BACK, False, ())


def test_the_title_of_an_option_is_neither_a_link_nor_a_reference() -> None:
    whole = asyncio.run(answered(Scripted(AskedBack(BACK))).whole())
    assert "www.evil.example" not in whole.answer
    assert "[Ref #1]" not in whole.answer
    assert not whole.citations[0].used


PIECES = st.sampled_from(
    [
        *(
            "Choose Crop to Content. ",
            "Record it for 7 days. ",
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
def test_what_vouching_adds_joins_nothing_into_a_link_an_image_or_a_tag(text: str) -> None:
    whole = asyncio.run(answered(modelled(TextPart(f"Choose Crop to Content now.\n\n{text}"), Finished())).whole())

    for block in MarkdownIt("commonmark").enable(["table"]).parse(whole.answer):
        assert block.type != "html_block", whole.answer
        for token in block.children or ():
            assert token.type not in ("link_open", "image", "html_inline"), whole.answer
