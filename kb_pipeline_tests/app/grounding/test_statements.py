"""An answer is cut into what it states, however its text arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.grounding.statements import AnswerPart, Statements, stated
from kb_pipeline_tests.growth import grows_in_proportion


def parts(text: str) -> list[AnswerPart]:
    statements = Statements()
    return [*statements.feed(text), *statements.finish()]


def said(text: str) -> list[str]:
    return [part.said for part in parts(text) if part.said]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Press Ctrl+Z. Then save the file.", ["Press Ctrl+Z.", "Then save the file."]),
        ("1. Open *Layer*.\n2. Click **Crop** (e.g. twice).", ["Open *Layer*.", "Click **Crop** (e.g. twice)."]),
        ("- Colors are kept.\n  Their order changes.", ["Colors are kept.", "Their order changes."]),
        ("> Layers can be cropped.", ["Layers can be cropped."]),
        ("| Key | Action |\n|---|---|\n| Ctrl+Z | undoes the crop |", ["Ctrl+Z   undoes the crop"]),
        ("```\nkb ingest --article ID\n```\n", ["kb ingest --article ID"]),
        ("Crop the layer [Ref #1]. Save the file. [Ref #2][Ref #3] Close the window.",
         ["Crop the layer.", "Save the file.", "Close the window."]),
        ("![The crop](/api/images/a/images/b.png) Crop the layer.", ["Crop the layer."]),
        ("**Note. Crop the layer** and save it.", ["**Note. Crop the layer** and save it."]),
        ("Er heißt „Ebene“. Speichern Sie die Datei.", ["Er heißt „Ebene“.", "Speichern Sie die Datei."]),
    ],
)  # fmt: skip
def test_sentences_items_rows_and_code_are_statements(text: str, statements: list[str]) -> None:
    assert said(text) == statements


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Here are the steps:",
        "To crop a layer, follow these steps:",
        "## Crop a layer",
        "**Crop a layer**",
        "Which layer do you mean?",
        "![The crop](/api/images/a/images/b.png)",
        "[Ref #1]",
        "---",
    ],
)
def test_what_needs_no_evidence_states_nothing(text: str) -> None:
    assert stated(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Yes, you can undo it with Ctrl+Z.",
        "The articles do not mention it, but you can record the screen with another program.",
        "You cannot crop a layer without an alpha channel.",
        "If you do not provide a name, the layer is called New Layer.",
        "Sure, press Ctrl+Z twice.",
        "I click on Save and close the dialog.",
        "Click OK.",
        "This differs from scaling, because no image information is lost.",
        "The context menu has no entry that would delete a layer.",
    ],
)
def test_what_says_something_about_the_matter_is_a_statement(text: str) -> None:
    assert stated(text) == text


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Step 1: Open the dialog.", "Open the dialog."),
        ("**Step 2:** Choose **Crop**.", "Choose **Crop**."),
        ("[Step #3] Close the dialog.", "Close the dialog."),
        ("Schritt 4. Schließen Sie den Dialog.", "Schließen Sie den Dialog."),
        ("2. Choose **Crop**.", "Choose **Crop**."),
        ("Step 3 asks for a name.", "Step 3 asks for a name."),
    ],
)
def test_the_number_of_a_step_is_not_part_of_what_is_said(text: str, states: str) -> None:
    assert stated(text) == states


PIECES = st.sampled_from(
    [
        *(
            "Crop it. ",
            "e.g. ",
            "*a* ",
            "**",
            "`",
            "[",
            "](x) ",
            "[Ref #1]",
            " [Ref #12]",
            "(",
            ")",
            "\n",
            "\n\n",
            "- ",
        ),
        *(
            "1. ",
            "> ",
            "| a | b |\n",
            "|---|\n",
            "```",
            "~~~",
            "...",
            "Save As... ",
            "! ",
            "? ",
            " ",
            "\t",
            "Word",
            "。",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_the_parts_are_the_answer_and_do_not_depend_on_how_it_arrives(text: str, sizes: list[int]) -> None:
    statements, found, at = Statements(), [], 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        found += statements.feed(text[at : at + size])
        at += size
    found += statements.finish()

    assert "".join(part.text + part.gap for part in found) == text
    assert found == parts(text)


def test_a_sentence_comes_out_before_its_paragraph_ends() -> None:
    statements = Statements()
    assert [part.text for part in statements.feed("Press Ctrl+Z. Then save the file that you ")] == ["Press Ctrl+Z."]


@pytest.mark.parametrize(
    "unit", ["a. ", "A. B ", "e.g. ", "`", "**", "(", "[Ref #1]", "[Ref #1] ", "| a ", "\n", "- ", "> "]
)
def test_hostile_answers_take_time_in_proportion(unit: str) -> None:
    text = unit * 20_000

    assert grows_in_proportion(lambda characters: parts(text[:characters]), 20_000)
