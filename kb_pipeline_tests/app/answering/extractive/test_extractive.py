"""Answers without a model: quotations of what was found, with references and pictures, and more of it folded."""

import re
from collections.abc import Iterator

import pytest

from app.answering.base import Finished, Message, Searched, TextPart
from app.answering.extractive.answer import quoted_answer, refusal
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.extractive.guidance import Guidance
from app.answering.extractive.quoting import quotation
from app.grounding.support import mark_used
from app.language.messages import Messages
from app.language.sentences import units_of
from app.library.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline_tests.app.answering.conftest import Asked
from kb_pipeline_tests.app.answering.extractive.asking import ask, quoted_of
from kb_pipeline_tests.app.answering.extractive.staging import searching
from kb_pipeline_tests.app.grounding.hits import ground
from kb_pipeline_tests.app.grounding.passages import citation, image

SAY = Messages.of("en")
STEPS = [f"In step {n} turn the {name} wheel until it clicks twice and the lamp beside it goes out." for n, name in
         enumerate(["red", "green", "blue", "white", "black", "brown"], 1)]  # fmt: skip
GUIDE = (
    "<h1>Calibrate the press</h1><h2>Procedure</h2><ol>"
    + "".join(
        f"<li>{step}{'<p><img src=lamp.png alt=lamp></p>' if n == 4 else ''}</li>" for n, step in enumerate(STEPS, 1)
    )
    + "</ol><h2>After that</h2><p>Keep the log.</p>"
)
FORMAT = (
    "<h1>Export an image</h1><h2>The dialog</h2><p><img src=dialog.png alt='the dialog'></p>"
    "<p>The upper part of this dialog asks for the name of the file and the folder that shall hold it in future.</p>"
    "<p>Below that the gamma slider changes how bright the midtones of exported pictures come out on other screens, "
    "while black and white stay exactly what they are in the original, whatever its value.</p>"
    "<p>The lower part of this dialog shows how large the file will be, and how long the export is going to take on "
    "this computer, which is measured anew for each picture.</p>"
)


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """A procedure, and a dialog that is described at length."""
    articles, pictures = {"press": GUIDE, "export": FORMAT}, {"press": "lamp", "export": "dialog"}
    yield from searching(tmp_path_factory.mktemp("guide"), articles, pictures)


def used(asked: Asked) -> list[Citation]:
    return [citation for citation in mark_used(asked.text, asked.book.citations) if citation.used]


def shown(asked: Asked, *, folded: bool = False) -> str:
    """What a reader sees at once, or only on request."""
    return "".join(event.delta for event in asked.events if isinstance(event, TextPart) and event.is_folded is folded)


@pytest.mark.slow("builds a whole knowledge base")
def test_the_sentence_that_answers_comes_first_with_its_picture(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I clear a paper jam?")
    assert asked.text.startswith(
        "From *Printing › Paper jam*:\n\n"
        "> Open the rear tray and pull the paper out slowly to clear a paper jam. [Ref #1]\n\n"
        "![the rear tray](/api/images/printing/images/tray.png)\n\n"
    )
    assert [citation.article_id for citation in used(asked)][:1] == ["printing"]


def test_other_sections_are_named_only_if_they_are_near(retrieval: Retrieval) -> None:
    near = [citation(f"Wheel {number} turns.", number, "Press", f"Wheel {number}") for number in (1, 2, 3)]
    chosen = quoted_of("Which wheel turns?", near, is_sure=True)
    assert chosen
    said = "".join(text.delta for text in quoted_answer(chosen, SAY, ""))
    assert "**See also**\n\n- *Press › Wheel 2* [Ref #2]\n- *Press › Wheel 3* [Ref #3]\n\n" in said
    assert "See also" not in ask(retrieval, "How do I clear a paper jam?").text


def test_the_end_says_what_the_answer_is_made_of(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I clear a paper jam?")
    assert asked.text.endswith(f"*{SAY('made_of_quotations')}*")
    assert ExtractiveAnswerer.answered_by == "extractive"


@pytest.mark.slow("builds a whole knowledge base")
def test_the_rest_of_the_section_is_folded_and_says_nothing_twice(guide: Retrieval) -> None:
    asked = ask(guide, "What does the gamma slider change?", top=1)
    first, rest = shown(asked), shown(asked, folded=True)
    assert "Below that the gamma slider changes how bright the midtones" in first
    assert "The lower part of this dialog" not in first
    assert rest.startswith(f"**{SAY('rest_of_section')}**\n\n> The lower part of this dialog shows")
    assert "gamma slider" not in rest
    assert asked.text.count("dialog.png") == 1


def test_every_quotation_stands_in_its_passage(retrieval: Retrieval) -> None:
    for cited in used(ask(retrieval, "How do I crop a layer?")):
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
    assert all(isinstance(piece, TextPart) and piece.is_quoted for piece in pieces)
    assert last == Finished()


def test_the_same_question_has_the_same_answer(retrieval: Retrieval) -> None:
    assert len({ask(retrieval, "How do I crop a layer?").text for _ in range(3)}) == 1


def test_what_nothing_answers_is_said_to_be_so_and_nothing_that_is_far_is_named(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "Who won the chess tournament in Lisbon?")
    assert asked.text == SAY("nothing_answers")
    assert asked.end.refused


def test_a_refusal_says_in_which_language_to_ask() -> None:
    assert refusal(Guidance(language_note="Please ask in English."), SAY).endswith("\n\nPlease ask in English.")


def test_sections_in_another_language_than_the_question_are_not_close(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "Wie kann ich eine Ebene zuschneiden?")
    assert asked.text == (
        "In der Wissensdatenbank steht darauf keine Antwort.\n\n"
        "Die Artikel sind auf Englisch. Bitte fragen Sie auf Englisch."
    )
    assert asked.end.refused


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("Does the raer tray clear dusty surfaces?", "Does the rear tray clear dusty surfaces?"),
        ("How do I crpo a laeyr?", "How do I crop a layer?"),
    ],
)
def test_a_misspelt_question_is_answered_at_once_in_its_right_spelling(
    retrieval: Retrieval, misspelt: str, meant: str
) -> None:
    asked, rightly = ask(retrieval, misspelt), ask(retrieval, meant)
    assert asked.text == f"Understood as: *{meant}*\n\n{rightly.text}"
    assert asked.searches == [misspelt, meant]
    assert asked.end == Finished()


def quoted(*passages: Citation, is_sure: bool, question: str = "Which?") -> list[TextPart]:
    found = quoted_of(question, passages, is_sure=is_sure)
    assert found
    return list(quoted_answer(found, SAY, "That is all.", "" if is_sure else SAY("closest")))


def test_what_may_not_answer_is_called_the_closest_and_quotes_two_more_sections_folded() -> None:
    passages = [citation(f"Text {at}.", at, "Lamps", f"Section {at}") for at in range(1, 6)]
    pieces = quoted(*passages, is_sure=False)
    assert [piece.delta.strip() for piece in pieces if not piece.is_folded] == [
        SAY("closest"),
        "From *Lamps › Section 1*:",
        "> Text 1. [Ref #1]",
        "*That is all.*",
    ]
    assert [piece.delta.strip() for piece in pieces if piece.is_folded] == [
        "From *Lamps › Section 2*:",
        "> Text 2. [Ref #2]",
        "From *Lamps › Section 3*:",
        "> Text 3. [Ref #3]",
        "**See also**\n\n- *Lamps › Section 4* [Ref #4]\n- *Lamps › Section 5* [Ref #5]",
    ]


def test_a_table_of_hundreds_of_rows_is_quoted_from_its_beginning() -> None:
    rows = "\n".join(f"| P-{number} | {number}.50 EUR |" for number in range(1000, 1500))
    table = citation(f"| part | price |\n| --- | --- |\n{rows}", 2, "Prices", "Rows 1-500")
    pieces = [piece.delta for piece in quoted(citation("A leak.", 1), table, is_sure=False) if piece.is_folded]
    assert pieces[0] == "From *Prices › Rows 1-500*:\n\n"
    assert "| P-1000 | 1000.50 EUR |" in pieces[1]
    assert "P-1499" not in pieces[1]


def test_of_a_section_that_nothing_is_quoted_of_nothing_is_said() -> None:
    code = citation(f"```\n{'x' * 3000}\n```", 2, "Dump", "Memory")
    assert not [piece.delta for piece in quoted(citation("A leak.", 1), code, is_sure=False) if piece.is_folded]


def test_the_fold_begins_at_the_heading_of_the_answer_and_ends_with_what_is_before_it() -> None:
    text = "Oil the hinges.\n\n### Valves\n\nA valve closes slowly.\n\n### Pumps\n\nA pump hums."
    pieces = quoted(citation(text, 1, "Press", "Care"), is_sure=True, question="How does a valve close slowly?")
    assert [piece.delta.strip() for piece in pieces if piece.is_folded] == [
        f"**{SAY('rest_of_section')}**",
        "> **Pumps**\n>\n> A pump hums. [Ref #1]",
        "> Oil the hinges. [Ref #1]",
    ]


def test_a_section_without_more_text_has_nothing_to_unfold() -> None:
    passage = citation(f"Text 1.\n\n{image('a', 'A lamp')}", 1, "Lamps", "Section")
    assert [piece.delta.strip() for piece in quoted(passage, is_sure=True)] == [
        "From *Lamps › Section*:",
        "> Text 1. [Ref #1]",
        "![A lamp](/api/images/guide/images/a.png)",
        "*That is all.*",
    ]


def test_a_picture_of_another_section_says_whose_it_is() -> None:
    passages = [
        citation("The dialog opens.", 1, "Lamps", "Menu"),
        citation(image("scale", "Which?"), 2, "Lamps", "Scale"),
    ]
    texts = "".join(piece.delta for piece in quoted(*passages, is_sure=True))
    assert "From *Lamps › Scale*: [Ref #2]\n\n![Which?](/api/images/guide/images/scale.png)\n\n" in texts


def test_nothing_found_is_no_match(retrieval: Retrieval) -> None:
    asked = ask(retrieval, "How do I crop a layer?", top=0)
    assert asked.text == SAY("nothing_answers")
    assert asked.end.refused


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
    assert "![the dialog](/api/images/export/images/dialog.png)" in shown(asked)
    assert [citation.article_id for citation in used(asked)] == ["export"]


def test_an_instruction_in_an_article_is_a_quotation(retrieval: Retrieval) -> None:
    text = ask(retrieval, "How do I replace the toner cartridge?").text
    (line,) = (line for line in text.splitlines() if "HACKED" in line)
    assert line.startswith("> ")
    assert not re.search(r"(?<!\\)<[A-Za-z/!?]", text)


@pytest.mark.parametrize("question", ["How do I turn the red wheel?", "In which step do I turn the blue wheel?"])
def test_a_procedure_is_quoted_whole(guide: Retrieval, question: str) -> None:
    lines = shown(ask(guide, question, top=3)).splitlines()
    steps = [line.removeprefix("> ").partition(" [Ref")[0] for line in lines if line.startswith("> ")]
    assert steps == [f"{n}. {step}" for n, step in enumerate(STEPS, 1)]


def test_a_procedure_shows_its_picture(guide: Retrieval) -> None:
    assert "](/api/images/press/images/lamp.png)" in shown(ask(guide, "How do I turn the red wheel?"))


def test_a_place_says_no_name_twice() -> None:
    one = citation("It turns.", 1, "5.4. The wheel - 5. Press", "5.4. The wheel")
    chosen = quoted_of("What turns?", [one], is_sure=True)
    assert chosen
    assert (
        next(iter(quoted_answer(chosen, SAY, ""))).delta
        == f"{SAY('from_place', place=r'*5.4. The wheel - 5. Press*')}\n\n"
    )


def test_an_ellipsis_tells_that_a_list_does_not_begin_with_the_first_item_that_is_quoted() -> None:
    units = units_of("It has roles:\n\n- Viewer, who sees\n- Owner, who may do everything")
    assert (
        quotation([units[0], units[2]], "[Ref #1]")
        == "> It has roles:\n>\n> …\n>\n> - Owner, who may do everything [Ref #1]"
    )


def test_a_picture_between_two_sentences_leaves_nothing_out() -> None:
    first, _, second = units_of(f"Open the lid.\n\n{image('lid')}\n\nClose it.")
    assert second.after_image
    assert "…" not in quotation([first, second], "[Ref #1]")
