"""Questions about whole documents are answered by a plan; all others exactly as without one."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from datetime import date

import pytest

from app.answering.base import (
    AnswerEvent,
    AskedBack,
    Finished,
    ItemChanged,
    Message,
    Planned,
    Question,
    Searched,
    TextPart,
    ToolEnded,
    ToolStarted,
)
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.grounded import GroundedAnswer
from app.answering.planning.answerer import PlannedAnswerer
from app.answering.planning.plans import MOST_LISTED
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.language.messages import Messages
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.answers import Clarification, DocumentOption
from kb_pipeline.asking import AskOptions
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.made_library import Made, library, publish_library

SAY = Messages.of("en")
TODAY = date(2026, 11, 23)
ANN = Principal("ann", ("group-board",))
SECRET = Made(
    "board-agreement.pdf",
    "Board agreement",
    "Agreement",
    "Board",
    page_count=3,
    sections=(("Salaries", "The board earns 12345 a month. Nobody else may know it."),),
    readers=("group-board",),
)
OTHER_AGREEMENT = Made("works-agreement.pdf", "Works agreement", "Agreement", "HR", page_count=4)
LONG = Made(
    "operations-handbook.pdf",
    "Operations handbook",
    "Handbook",
    "Operations",
    "Tom Becker",
    page_count=3,
    sections=(
        ("Start", "The machine starts when the green button is pressed. Wait for the lamp."),
        ("Cleaning", "The filter is washed every Friday with warm water. Soap damages it."),
        ("Repair", "Only the service team opens the gearbox of the machine. It weighs a ton."),
    ),
)


@pytest.fixture(scope="module")
def retrieval(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """Searches the made library, and three documents more, of which one is not for everybody."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "staging").mkdir()
    settings = Settings(staging=str(folder / "staging"), home=str(folder / "home"), embedder="hashing")
    publish_library(settings, [*library(), SECRET, OTHER_AGREEMENT, LONG])
    searching = Retrieval(Workspace(settings))
    yield searching
    searching.close()


@pytest.fixture
def planned(retrieval: Retrieval) -> PlannedAnswerer:
    return PlannedAnswerer(inner(retrieval), retrieval, lambda: TODAY)


def inner(retrieval: Retrieval) -> ExtractiveAnswerer:
    return ExtractiveAnswerer(retrieval, Articles(retrieval.workspace.layout))


class Answered:
    """The events of an answer, and its passages."""

    def __init__(self, answerer: PlannedAnswerer | ExtractiveAnswerer, question: Question) -> None:
        self.book = CitationBook()
        self.events: list[AnswerEvent] = []
        asyncio.run(self._ask(answerer, question))

    async def _ask(self, answerer: PlannedAnswerer | ExtractiveAnswerer, question: Question) -> None:
        async with aclosing(answerer.answer(question, self.book)) as events:
            async for event in events:
                self.events.append(event)

    @property
    def text(self) -> str:
        return "".join(event.delta for event in self.events if isinstance(event, TextPart))

    @property
    def titles(self) -> list[str]:
        return list(dict.fromkeys(citation.title for citation in self.book.citations))

    @property
    def clarification(self) -> Clarification:
        assert isinstance(self.events[-2], AskedBack)
        assert self.events[-1] == Finished()
        return self.events[-2].clarification

    @property
    def statuses(self) -> list[tuple[int, str]]:
        return [(event.position, event.status) for event in self.events if isinstance(event, ItemChanged)]

    @property
    def refused(self) -> bool:
        assert isinstance(self.events[-1], Finished)
        return self.events[-1].refused


def ask(
    planned: PlannedAnswerer,
    text: str,
    *,
    who: Principal | None = None,
    document_ids: Sequence[str] = (),
    clarification: Clarification | None = None,
) -> Answered:
    question = Question(
        text, who or Principal(), 5, options=AskOptions(document_ids=tuple(document_ids)), clarification=clarification
    )
    return Answered(planned, question)


# --- ordinary questions ---


@pytest.mark.parametrize(
    "text",
    ["How many laptops may I have?", "How do I start the machine?", "What is the policy?", "Who can write reports?"],
)
def test_an_ordinary_question_is_answered_exactly_as_before(
    planned: PlannedAnswerer, retrieval: Retrieval, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Question(text, Principal(), 5, history=(Message("user", "What about deadlines?"),))
    before = Answered(inner(retrieval), question)

    def not_read(*_: object, **__: object) -> None:
        raise AssertionError("an ordinary question needs no list of documents")

    monkeypatch.setattr(retrieval, "documents", not_read)
    after = Answered(planned, question)
    assert after.events == before.events
    assert after.book.citations == before.book.citations


@pytest.mark.parametrize(
    "text",
    [
        "Summarise the holiday newsletter",
        "Which roadmaps do we have?",
        "Compare the cat brochure and the dog brochure",
        "What does the holiday brochure say about laptops?",
    ],
)
def test_what_is_called_like_a_document_but_is_none_is_an_ordinary_question(
    planned: PlannedAnswerer, retrieval: Retrieval, text: str
) -> None:
    assert ask(planned, text).events == Answered(inner(retrieval), Question(text, Principal(), 5)).events


# --- lists ---


def test_a_list_has_the_facts_and_a_source_for_each_document(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Which reports does the finance department have since May, newest first?")
    assert answered.text.splitlines() == [
        "2 documents match *reports*, *finance department*, *since May*:",
        "",
        "| Title | Type | Date | Pages | Department | Source |",
        "| --- | --- | --- | --- | --- | --- |",
        "| Finance quarterly report Q3 2026 | Report | 2026-10-10 | 105 | Finance | [Ref #1] |",
        "| Finance quarterly report Q2 2026 | Report | 2026-07-10 | 68 | Finance | [Ref #2] |",
    ]
    assert answered.titles == ["Finance quarterly report Q3 2026", "Finance quarterly report Q2 2026"]
    assert answered.statuses == [(1, "IN_PROGRESS"), (1, "COMPLETED"), (2, "IN_PROGRESS"), (2, "COMPLETED")]


def test_the_sources_of_a_list_are_the_beginnings_of_its_documents(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "List all guides of IT")
    assert {citation.section for citation in answered.book.citations} == {"Purpose"}
    assert len(answered.book.citations) == 6


def test_a_long_list_says_how_many_there_are(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "How many reports do we have?")
    assert answered.text.startswith(f"38 documents match *reports*; these are the first {MOST_LISTED}:")
    assert len(answered.book.citations) == MOST_LISTED


def test_a_list_of_one_says_so_in_the_singular(planned: PlannedAnswerer) -> None:
    assert ask(planned, "List all reports since May 2026 with more than 100 pages of finance").text.startswith(
        "1 document matches *reports*, *finance*, *since May 2026*, *more than 100 pages*:"
    )
    assert ask(planned, "Show me the two newest reports").text.startswith(
        "38 documents match *reports*; these are the first 2:"
    )


def test_pages_that_no_document_has_are_named_with_those_that_there_are(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "List all reports with more than 5000 pages")
    assert "No document matches *more than 5000 pages*. Pages of the documents: " in answered.text


def test_a_filter_that_nothing_meets_is_named_with_the_values_that_there_are(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "List all contracts of the gardening department")
    assert "No document matches *gardening department*." in answered.text
    assert "Known departments: Engineering, Finance, HR," in answered.text
    assert "Board" not in answered.text
    departments = answered.text.partition("Known departments: ")[2].partition(".")[0].split(", ")
    assert len(answered.book.leans_on) >= len(departments) > 2  # one document of each tells that there is it
    assert (1, "FAILED") in answered.statuses or "Without" in answered.text


def test_filters_that_nothing_meets_together_are_tried_without_the_weakest(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Which contracts of legal came in before 2010?")
    assert "No document matches *before 2010*." in answered.text
    assert "Without *before 2010*:\n\n21 documents; these are the first 20:" in answered.text


def test_a_subject_that_only_the_text_names_is_found_there(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Which documents are there about gearbox?")
    assert answered.titles == ["Operations handbook"]
    assert Searched("gearbox", 1) in answered.events


# --- facts ---


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many pages does the operations handbook have?", "*Operations handbook* has 3 pages. [Ref #1]"),
        ("Who wrote the operations handbook?", "*Operations handbook* is by Tom Becker. [Ref #1]"),
        ("When was the operations handbook uploaded?", "*Operations handbook* came in on 2026-05-04. [Ref #1]"),
        (
            "Which department owns the operations handbook?",
            "*Operations handbook* belongs to the department Operations. [Ref #1]",
        ),
        (
            "When was the operations handbook written?",
            "*Operations handbook* does not say when it was written; it came in on 2026-05-04. [Ref #1]",
        ),
        (
            "How many pages has service-notes-2026-03.md?",
            "*Service notes 2026-03* has no pages: its format does not count them. [Ref #1]",
        ),
        ("Who wrote the works agreement?", "*Works agreement* does not say who wrote it. [Ref #1]"),
    ],
)
def test_a_fact_in_a_sentence(planned: PlannedAnswerer, question: str, answer: str) -> None:
    assert ask(planned, question).text == answer


# --- summaries ---


def test_a_summary_quotes_its_sentences_with_pages_and_the_passages_that_hold_them(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Summarise the operations handbook")
    assert answered.text == (
        "**Operations handbook** (operations-handbook.pdf, Handbook, 3 pages)\n\n"
        "> The machine starts when the green button is pressed. (page 1) [Ref #1]\n>\n"
        "> The filter is washed every Friday with warm water. (page 2) [Ref #2]\n>\n"
        "> Only the service team opens the gearbox of the machine. (page 3) [Ref #3]\n\n"
        "Its parts:\n\n"
        "- Start (page 1) [Ref #1]\n- Cleaning (page 2) [Ref #2]\n- Repair (page 3) [Ref #3]\n\n"
        "*Quoted from the articles word for word: no language model is configured to word an answer.*"
    )
    assert [citation.section for citation in answered.book.citations] == ["Start", "Cleaning", "Repair"]
    assert ToolStarted("get-1", "rag_get_document", {"doc_id": "operations-handbook.pdf"}) in answered.events
    assert ToolEnded("get-1", "rag_get_document", "Operations handbook") in answered.events
    assert not answered.refused


def test_a_reader_can_check_each_sentence_of_a_summary(planned: PlannedAnswerer) -> None:
    question = Question("Summarise the operations handbook", Principal(), 5)
    whole = asyncio.run(GroundedAnswer(planned, question, CitationBook()).whole())
    assert not whole.refused
    for citation in whole.citations:
        assert citation.used
        assert citation.quotes[0] in citation.passage
        assert citation.quote_pages == citation.pages


def test_a_file_that_is_not_there_is_said(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Summarise nothing-like-it.pdf")
    assert answered.text == "There is no document *nothing-like-it.pdf*."
    assert answered.refused
    assert answered.statuses[-1] == (1, "FAILED")


# --- comparisons ---


def test_documents_side_by_side_each_with_its_own_source(planned: PlannedAnswerer) -> None:
    question = Question("Compare the VPN guide and the printer guide on laptops", Principal(), 5)
    whole = asyncio.run(GroundedAnswer(planned, question, CitationBook()).whole())
    assert whole.answer == (
        "**VPN guide** (vpn-guide.docx)\n\n"
        "From *VPN guide › Laptops*:\n\n"
        "> VPN guide allows 5 laptops for each person. They are returned. [Ref #1]\n\n"
        "**Printer guide** (printer-guide.docx)\n\n"
        "From *Printer guide › Laptops*:\n\n"
        "> Printer guide allows 1 laptops for each person. They are returned. [Ref #2]\n\n"
        "*Quoted from the articles word for word: no language model is configured to word an answer.*"
    )
    assert [citation.title for citation in whole.citations if citation.used] == ["VPN guide", "Printer guide"]
    assert ask(planned, question.text).statuses[-1] == (3, "COMPLETED")


def test_a_document_that_says_nothing_is_named(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Compare the operations handbook and the VPN guide on gearbox repair")
    assert SAY("says_nothing", name="*VPN guide*") in answered.text
    assert "Only the service team opens the gearbox of the machine." in answered.text


def test_without_a_subject_the_summaries_stand_side_by_side(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Compare the operations handbook with the works agreement")
    assert answered.titles == ["Operations handbook", "Works agreement"]


# --- within a document ---


def test_a_question_to_one_document_is_answered_from_it_alone(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "What does the VPN guide say about laptops?")
    assert answered.titles == ["VPN guide"]
    assert [event.query for event in answered.events if isinstance(event, Searched)] == ["laptops"]
    assert "VPN guide allows" in answered.text
    assert answered.statuses[-1] == (2, "COMPLETED")


# --- asking back ---


def test_it_is_asked_back_before_a_plan_is_made(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Summarise the travel policy")
    titles = [option.title for option in answered.clarification.options]
    assert titles == ["Travel policy 2026", "Travel policy 2023"]
    assert answered.clarification.allows_all
    assert not any(isinstance(event, Planned | TextPart) for event in answered.events)


def test_options_are_only_what_the_asker_may_see(planned: PlannedAnswerer) -> None:
    everybody = ask(planned, "Summarise the agreement").clarification.options
    assert {option.title for option in everybody} == {"Works agreement", "Betriebsvereinbarung Arbeitszeit"}
    ann = ask(planned, "Summarise the agreement", who=ANN).clarification.options
    assert {option.title for option in ann} == {option.title for option in everybody} | {"Board agreement"}


@pytest.mark.parametrize(
    ("reply", "titles"),
    [
        ("2", ["Travel policy 2023"]),
        ("the first one", ["Travel policy 2026"]),
        ("travel-policy-2023.pdf", ["Travel policy 2023"]),
        ("both", ["Travel policy 2026", "Travel policy 2023"]),
        ("How many laptops does the VPN guide allow?", None),
    ],
)
def test_replies(planned: PlannedAnswerer, reply: str, titles: list[str] | None) -> None:
    clarification = ask(planned, "Summarise the travel policy").clarification
    answered = ask(planned, reply, clarification=clarification)
    if titles is None:
        assert answered.events == ask(planned, reply).events
    else:
        assert answered.titles == titles
        assert answered.text.startswith(f"**{titles[0]}**")


def test_a_document_that_is_no_option_can_be_named(planned: PlannedAnswerer) -> None:
    clarification = ask(planned, "Summarise the contract").clarification
    assert "Contract with Contoso" not in [option.title for option in clarification.options]
    assert ask(planned, "the one with Contoso", clarification=clarification).titles == ["Contract with Contoso"]


def test_none_of_them(planned: PlannedAnswerer) -> None:
    clarification = ask(planned, "Summarise the travel policy").clarification
    answered = ask(planned, "none of these", clarification=clarification)
    assert (answered.text, answered.refused) == (SAY("none_of_these"), True)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("article_id", ["board-agreement.pdf", "gone.pdf"])
def test_what_is_gone_or_forbidden_meanwhile_is_not_shown(planned: PlannedAnswerer, article_id: str) -> None:
    option = DocumentOption(number=1, article_id=article_id, title="Board agreement")
    other = DocumentOption(number=2, article_id="works-agreement.pdf", title="Works agreement")
    pending = Clarification(
        question="Which document do you mean?",
        asked="Summarise the agreement",
        options=(option, other),
        allows_all=True,
    )
    answered = ask(planned, "1", clarification=pending)
    assert (answered.text, answered.refused) == (SAY("document_gone"), True)
    assert answered.book.citations == ()
    both = ask(planned, "all", clarification=pending)
    assert both.titles == ["Works agreement"]
    assert both.text.startswith("1 of the 2 documents that you chose is not in the knowledge base any more")


def test_the_clear_side_of_a_comparison_is_kept(planned: PlannedAnswerer) -> None:
    asked = ask(planned, "Compare the VPN guide with the travel policy")
    assert [option.title for option in asked.clarification.options] == ["Travel policy 2026", "Travel policy 2023"]
    answered = ask(planned, "2", clarification=asked.clarification)
    assert sorted(answered.titles) == ["Travel policy 2023", "VPN guide"]


def test_who_chose_documents_is_not_asked(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Summarise the travel policy", document_ids=["travel-policy-2023.pdf"])
    assert answered.titles == ["Travel policy 2023"]
    assert ask(planned, "Summarise it", document_ids=["vpn-guide.docx"]).titles == ["VPN guide"]


def test_a_question_about_chosen_documents_is_no_command_for_its_first_word(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Summarise how laptops are allowed", document_ids=["vpn-guide.docx"])
    assert not any(isinstance(event, Planned) for event in answered.events)
    assert answered.titles == ["VPN guide"]


def test_passages_are_searched_only_in_the_chosen_documents(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "How many laptops may I have?", document_ids=["vpn-guide.docx"])
    assert answered.titles == ["VPN guide"]


def test_it_is_asked_once_then_guessed(planned: PlannedAnswerer) -> None:
    answered = ask(
        planned, "Compare the travel policy with the security policy", document_ids=["travel-policy-2023.pdf"]
    )
    assert answered.text.startswith(
        "A guess: *Security policy 2026* is meant. Others fit as well: *Security policy 2023*"
    )
    assert answered.titles == ["Travel policy 2023", "Security policy 2026"]


# --- manners ---


@pytest.mark.parametrize(
    ("text", "key"), [("hello", "greeting"), ("Thanks, that helped!", "thanked"), ("ok", "thanked")]
)
def test_a_courtesy_is_answered_in_a_line_without_a_search(planned: PlannedAnswerer, text: str, key: str) -> None:
    question = Question(text, Principal(), 5, history=(Message("user", "What does the VPN guide say about laptops?"),))
    assert Answered(planned, question).events == [TextPart(SAY(key), is_quoted=True), Finished()]
    whole = asyncio.run(GroundedAnswer(planned, question, CitationBook()).whole())
    assert (whole.answer, whole.refused, whole.follow_ups) == (SAY(key), False, ())


def test_each_of_two_questions_is_answered_and_the_remark_said_once(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "How often is the filter washed? Which team opens the gearbox?")
    searched = [event.query for event in answered.events if isinstance(event, Searched)]
    assert searched[0] == "How often is the filter washed?"
    assert searched[1].startswith("Which team opens the gearbox?")
    assert "washed every Friday" in answered.text and "Only the service team opens" in answered.text
    assert answered.text.startswith("**How often is the filter washed?**")
    assert answered.text.count(SAY("made_of_quotations")) == 1
    assert not answered.refused


def test_each_question_of_a_pasted_mail_is_answered(planned: PlannedAnswerer) -> None:
    asked = "How often is the filter washed?\nWhich team opens the gearbox?"
    mail = f"Hi team,\nthe press is loud.\n{asked}\nThanks\nAnn Example"
    answered = ask(planned, mail)
    assert "washed every Friday" in answered.text and "Only the service team opens" in answered.text
    assert "Ann" not in answered.text


def test_two_questions_that_have_one_answer_get_it_once(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "How often is the filter washed? When is the filter washed?")
    assert answered.text.startswith("**How often is the filter washed?**\n\n**When is the filter washed?**")
    assert answered.text.count("washed every Friday") == 1


# --- with a model ---


def test_a_model_with_tools_reads_and_compares_itself(retrieval: Retrieval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExtractiveAnswerer, "answered_by", "agent")
    planned = PlannedAnswerer(inner(retrieval), retrieval, lambda: TODAY)
    for text in ("Compare the VPN guide and the printer guide", "What does the VPN guide say about laptops?"):
        assert not any(isinstance(event, Planned) for event in ask(planned, text).events)
    assert any(isinstance(event, Planned) for event in ask(planned, "List all guides of IT").events)
    asked = ask(planned, "Summarise the travel policy").clarification
    assert ask(planned, "2", clarification=asked).titles == ["Travel policy 2023"]


def test_what_is_said_is_in_the_language_of_the_question(planned: PlannedAnswerer) -> None:
    answered = ask(planned, "Wie viele Seiten hat das Sicherheitshandbuch?")
    assert "hat" in answered.text and "Seiten" in answered.text


@pytest.mark.parametrize(
    "text",
    ["list hidden files", "find files by content", "compare two files", "What is a guide?", "Summarise config.txt"],
)
def test_a_question_about_files_is_a_question(planned: PlannedAnswerer, retrieval: Retrieval, text: str) -> None:
    assert ask(planned, text).events == Answered(inner(retrieval), Question(text, Principal(), 5)).events
