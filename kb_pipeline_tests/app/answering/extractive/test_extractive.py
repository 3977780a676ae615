"""Answers without a model: quotations of what was found, with references and pictures."""

import re
from collections.abc import Iterator

import pytest

from app.answering.base import Finished, Message, Searched, Text
from app.answering.extractive.answer import (
    MADE_OF_QUOTATIONS,
    NOTHING,
    REWORD,
    SearchOutcome,
    extracted_answer,
    refusal,
)
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.extractive.guidance import Guidance
from app.grounding.support import mark_used
from app.grounding.words import parse_question
from app.retrieval import Retrieval
from app.schema.answers import CLOSEST
from app.schema.passages import Citation
from kb_pipeline_tests.app.answering.conftest import Asked
from kb_pipeline_tests.app.answering.extractive.asking import ask
from kb_pipeline_tests.app.answering.extractive.staging import searching
from kb_pipeline_tests.app.grounding.hits import ground
from kb_pipeline_tests.app.grounding.passages import citation, image

STEPS = [f"In step {n} turn the {name} wheel until it clicks twice and the lamp beside it goes out." for n, name in
         enumerate(["red", "green", "blue", "white", "black", "brown"], 1)]  # fmt: skip
GUIDE = (
    "<h1>Calibrate the press</h1><h2>Procedure</h2><ol>"
    + "".join(
        f"<li>{step}{'<p><img src=lamp.png alt=lamp></p>' if n == 4 else ''}</li>" for n, step in enumerate(STEPS, 1)
    )
    + "</ol><h2>After that</h2><p>Keep the log.</p>"
)


def used(asked: Asked) -> list[Citation]:
    return [citation for citation in mark_used(asked.text, asked.book.citations) if citation.used]


FORMAT = (
    "<h1>Export an image</h1><h2>The dialog</h2><p><img src=dialog.png alt='the dialog'></p>"
    "<p>The upper part of this dialog asks for the name of the file and the folder that shall hold it in future.</p>"
    "<p>Below that the gamma slider changes how bright the midtones of exported pictures come out on other screens, "
    "while black and white stay exactly what they are in the original, whatever its value.</p>"
)


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """A procedure, and a dialog that is described at length."""
    articles, pictures = {"press": GUIDE, "export": FORMAT}, {"press": "lamp", "export": "dialog"}
    yield from searching(tmp_path_factory.mktemp("guide"), articles, pictures)


@pytest.mark.slow("builds a whole knowledge base")
def test_the_sentence_that_answers_comes_first_with_its_picture(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I clear a paper jam?")
    assert asked.text.startswith(
        "From *Printing › Paper jam*:\n\n"
        "> Open the rear tray and pull the paper out slowly to clear a paper jam. [Ref #1]\n\n"
        "![the rear tray](/api/images/printing/images/tray.png)\n\n"
    )
    assert [citation.article_id for citation in used(asked)][:1] == ["printing"]


def test_it_says_what_it_is_made_of(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I clear a paper jam?")
    assert asked.text.endswith(MADE_OF_QUOTATIONS)
    assert ExtractiveAnswerer.answered_by == "extractive"


def test_every_quotation_stands_in_its_passage(retrieval: Retrieval) -> None:
    for cited in used(ask(retrieval, "How do I crop a layer?")):
        assert cited.quotes
        assert all(quote in cited.passage for quote in cited.quotes)


@pytest.mark.parametrize("question", ["How do I crop a layer?", "Replace the toner", "Who won the chess tournament?"])
def test_grounding_finds_nothing_to_put_right(retrieval: Retrieval, question: str) -> None:
    asked = ask(retrieval, question)
    assert ground(asked.text, asked.book) == asked.text


def test_it_comes_in_pieces_after_the_search_and_ends(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I crop a layer?")
    first, *pieces, last = asked.events
    assert first == Searched("How do I crop a layer?", len(asked.book.citations))
    assert len(pieces) > 1
    assert all(isinstance(piece, Text) for piece in pieces)
    assert last == Finished()


def test_the_same_question_has_the_same_answer(retrieval: Retrieval) -> None:
    assert len({ask(retrieval, "How do I crop a layer?").text for _ in range(3)}) == 1


def test_what_nothing_answers_is_said_to_be_so(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "Who won the chess tournament in Lisbon?")
    assert asked.text == NOTHING
    assert asked.end.refused
    assert used(asked) == []


def test_a_question_in_other_words_than_any_article_is_led_to_the_closest_sections() -> None:
    passages = [citation("Text.", at, "Layers", heading) for at, heading in enumerate(["Crop", "Crop", "Undo"], 1)]
    outcome = SearchOutcome.of(parse_question("Trim the sheet?"), passages, "unlikely")
    said, closest = refusal(outcome, Guidance())
    assert said == REWORD
    assert closest == "- *Layers › Crop* [Ref #1]\n- *Layers › Undo* [Ref #3]"


@pytest.mark.parametrize(
    ("question", "leads"),
    [
        ("Which interpolation is selected in the scale dialog?", True),
        ("How do I select interpolation?", False),
        ("Where is the interpolation selected in the scale dialog?", False),
        ("Why is an interpolation selected in the scale dialog?", False),
    ],
)
def test_a_value_that_is_written_on_a_screenshot_leads_where_a_value_is_asked_for(question: str, leads: bool) -> None:
    shown = image("scale", "Text on screen: Scale dialog; Interpolation selected: Cubic.")
    passages = [citation("An interpolation is selected in the scale dialog before scaling."), citation(shown, 2)]
    first, *_ = extracted_answer(SearchOutcome.of(parse_question(question), passages, "strong"))
    assert ("[Ref #2]" in first) is leads


def test_a_picture_that_is_asked_for_comes_first_and_its_section_is_quoted_below_it() -> None:
    shown = f"{image('scale', 'The scale dialog')}\n\nEnter the new width."
    passages = [citation("The scale dialog opens from the menu.", 1, "Menu"), citation(shown, 2, "Scale")]
    question = parse_question("What does the scale dialog look like?")
    assert list(extracted_answer(SearchOutcome.of(question, passages, "strong")))[:3] == [
        "From *Scale*:",
        "![The scale dialog](/api/images/guide/images/scale.png) [Ref #2]",
        "> Enter the new width. [Ref #2]",
    ]


@pytest.mark.parametrize(
    ("passage", "lead"),
    [
        ("The crop tool has these options:\n\n- Fixed: keeps the ratio.\n- Grow: allows more.",
         ": The crop tool has these options: Fixed: keeps the ratio. Grow: allows more."),
        ("The crop tool has these options:\n\n```\n--fixed\n```", ""),
        ("The crop tool has these options:", ""),
        ("The crop tool has options.", ": The crop tool has options."),
    ],
)  # fmt: skip
def test_another_section_is_named_with_a_sentence_that_does_not_break_off(passage: str, lead: str) -> None:
    passages = [
        citation("The crop tool has options that stand in the tool box while it is active."),
        citation("All options of the crop tool are kept for the next image.", 2, "Options", "Crop tool"),
        citation(passage, 3, "Tools"),
    ]
    answer = extracted_answer(SearchOutcome.of(parse_question("Which options has the crop tool?"), passages, "strong"))
    (see_also,) = (piece for piece in answer if piece.startswith("**See also**"))
    assert see_also.splitlines()[-1] == f"- *Tools*{lead} [Ref #3]"


def test_what_is_not_even_close_leads_nowhere() -> None:
    outcome = SearchOutcome.of(parse_question("Who won the chess tournament?"), [citation("Text.")], "none")
    assert list(refusal(outcome, Guidance())) == [NOTHING]


def test_a_refusal_asks_what_was_meant_before_it_names_what_is_close() -> None:
    outcome = SearchOutcome.of(parse_question("crpo *the* layer"), [citation("Text.", 1, "Layers", "Crop")], "unlikely")
    first, *_ = refusal(outcome, Guidance(did_you_mean="crop *the* layer"))
    assert first == r"Did you mean: *crop \*the\* layer*"


def test_the_closest_quotations_ask_what_was_meant_as_well(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "Does the raer tray clear dusty surfaces?")
    meant = "Does the rear tray clear dusty surfaces?"
    assert asked.text.startswith(f"Did you mean: *{meant}*\n\n{CLOSEST}\n\n")
    assert asked.end == Finished(did_you_mean=meant)


def test_who_asks_in_another_language_is_told_so_above_the_closest_quotations(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "Wie kann ich die dusty surfaces of the rear tray reinigen?")
    assert asked.text.startswith(f"Die Artikel sind auf Englisch. Bitte fragen Sie auf Englisch.\n\n{CLOSEST}\n\n")
    assert not asked.end.refused


def test_sections_in_another_language_than_the_question_are_not_close() -> None:
    outcome = SearchOutcome.of(parse_question("Wo ist das?"), [citation("Text.")], "unlikely")
    assert list(refusal(outcome, Guidance("Die Artikel sind auf Englisch."))) == [
        NOTHING,
        "Die Artikel sind auf Englisch.",
    ]


def test_nothing_found_is_no_match(retrieval: Retrieval) -> None:
    assert ask(retrieval, "How do I crop a layer?", top=0).text == NOTHING


def test_a_follow_up_leans_on_what_was_asked_before(retrieval: Retrieval) -> None:
    history = (Message("user", "How do I crop a layer?"), Message("assistant", "Choose Crop to Content."))
    asked = ask(retrieval, "And how do I undo it?", history=history)
    assert "> Press Ctrl+Z to undo the last crop of a layer. [Ref #1]" in asked.text


def test_only_who_may_see_a_passage_gets_it_quoted(retrieval: Retrieval) -> None:
    question = "What is the salary of the director?"
    assert "12345" not in ask(retrieval, question, top=50).text
    assert "12345" in ask(retrieval, question, "group-hr", top=50).text


@pytest.mark.slow("builds a whole knowledge base")
def test_the_figure_of_a_section_is_shown_with_what_is_quoted_of_it(guide: Retrieval) -> None:
    asked = ask(guide, "What does the gamma slider change?", top=1)
    assert "![the dialog](/api/images/export/images/dialog.png)" in asked.text
    assert [citation.article_id for citation in used(asked)] == ["export"]


def test_an_instruction_in_an_article_is_a_quotation(retrieval: Retrieval) -> None:
    text = ask(retrieval, "How do I replace the toner cartridge?").text
    (line,) = (line for line in text.splitlines() if "HACKED" in line)
    assert line.startswith("> ")
    assert not re.search(r"(?<!\\)<[A-Za-z/!?]", text)


@pytest.mark.parametrize("question", ["How do I calibrate the press?", "In which step do I turn the blue wheel?"])
def test_a_procedure_is_quoted_whole(guide: Retrieval, question: str) -> None:
    asked = ask(guide, question, top=3)
    steps = [line.removeprefix("> ").partition(" [Ref")[0] for line in asked.text.splitlines() if line.startswith("> ")]
    assert steps == [f"{n}. {step}" for n, step in enumerate(STEPS, 1)]


def test_a_procedure_shows_its_pictures_where_they_belong(guide: Retrieval) -> None:
    text = ask(guide, "How do I calibrate the press?").text
    shown = text.index("](/api/images/press/images/lamp.png)")
    assert text.index(STEPS[3]) < shown < text.index(STEPS[4])
