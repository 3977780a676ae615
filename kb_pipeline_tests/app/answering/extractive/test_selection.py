"""Which parts of the found passages are quoted."""

import pytest

from app.answering.extractive.blocks import blocks_of
from app.answering.extractive.procedures import procedure_of
from app.answering.extractive.selection import choose, rank
from app.grounding.words import parse_question
from app.schema.passages import Citation
from kb_pipeline_tests.app.grounding.passages import citation, image


def texts(question: str, *citations: Citation) -> list[str]:
    parsed = parse_question(question)
    ranked = rank(parsed, citations)
    extracts = choose(ranked, procedure_of(parsed, ranked[0].block))
    return [" ".join(unit.text for unit in extract.units) for extract in extracts]


def blocks(passage: str) -> list[tuple[str, ...]]:
    return [tuple(unit.text for unit in block.units) for block in blocks_of(citation(passage))]


def test_a_lead_in_is_one_with_what_it_introduces() -> None:
    assert blocks("Do this:\n\n- a\n- b\n\nWhile you drag\n\n1. c\n\nEnd.\n\n- d") == [
        ("Do this:", "a", "b"),
        ("While you drag", "c"),
        ("End.",),
        ("d",),
    ]


def test_captions_and_lists_of_links_are_no_blocks() -> None:
    assert blocks(f"Figure 1. The dialog\n\n{image('a')}\n\n- [One](a.html)\n- [Two](b.html)\n\nText.") == [("Text.",)]


@pytest.mark.parametrize(
    "byline",
    [
        "By Jane Doe",
        "Jane Doe, 3 March 2024",
        "Written by Jane Doe and José Núñez · 5 min read",
        "Last updated: 2024-03-03",
        "Von Jana Müller am 3. März 2024",
    ],
)
def test_who_made_an_article_is_quoted_only_to_who_asks_for_it(byline: str) -> None:
    made = citation(f"{byline}\n\nTo reset Jane's password, open the user list.", 1, "Passwords of Jane Doe")
    assert byline not in texts("What is the password of Jane Doe?", made)
    assert byline in texts("Who is the author of this, and when was it updated?", made)


@pytest.mark.parametrize(
    "line",
    ["Press Save.", "Restart the Print Server by F5", "Sign in by 3 March 2024!", "**Deadline:** 3 March 2024", "Save"],
)
def test_what_says_more_than_names_and_dates_is_no_byline(line: str) -> None:
    assert [block.is_byline for block in blocks_of(citation(f"# Guide\n\n{line}"))] == [False]


def test_a_term_counts_for_what_stands_under_it() -> None:
    passage = f"**Ctrl**\n\n**Shift**\n\nOne.\n\nTwo.\n\n**Figure 1**\n\n{image('a')}\n\nThree.\n\n## New\n\nFour."
    terms = [[term.text for term in block.terms] for block in blocks_of(citation(passage))]
    assert terms == [["**Ctrl**", "**Shift**"], ["**Ctrl**", "**Shift**"], [], []]


def test_the_best_block_comes_first_wherever_it_was_found() -> None:
    far = citation("Press F11 to show the image on the full screen.", 2, "View", article_id="view")
    near = citation("The screen is where you look.", 1)
    assert texts("How do I show the full screen?", near, far)[0] == "Press F11 to show the image on the full screen."


def test_headings_and_terms_say_what_a_paragraph_is_about() -> None:
    passage = "**Alt**\n\nIt moves the layer to another place instead.\n\n**Ctrl**\n\nIt selects a new clone source."
    found = rank(parse_question("What does Alt do in the clone tool?"), [citation(passage, 1, "Clone tool")])
    assert found[0].block.units[0].text.startswith("It moves")


def test_copies_are_quoted_once() -> None:
    copies = [citation("Press F11 for the full screen.", n, f"View {n}", article_id=f"v{n}") for n in (1, 2, 3)]
    assert texts("full screen", *copies) == ["Press F11 for the full screen."]


def test_a_short_answer_goes_on_with_what_follows() -> None:
    passage = "*How to tell:* The eraser paints white.\n\n*How to fix:* Add an alpha channel.\n\n## Other\n\nUnrelated."
    assert texts("Why does the eraser paint white?", citation(passage)) == [
        "*How to tell:* The eraser paints white.",
        "*How to fix:* Add an alpha channel.",
    ]


def test_of_a_long_paragraph_the_sentences_around_the_best_are_quoted() -> None:
    filler = " ".join(
        f"Here is sentence number {n} of many that are about something else altogether." for n in range(20)
    )
    (text,) = texts("How do I clear a paper jam?", citation(f"{filler} To clear a paper jam open the tray. {filler}"))
    assert "paper jam" in text
    assert len(text) <= 800


def test_of_a_long_table_the_head_and_the_best_rows_are_quoted() -> None:
    rows = "\n".join(f"| F{n} | does something with number {n} that is long to tell |" for n in range(1, 40))
    (text,) = texts("What does F11 do?", citation(f"| Key | Effect |\n|---|---|\n{rows}"))
    assert text.startswith("| Key | Effect | | F11 |") or ("| Key | Effect |" in text and "| F11 |" in text)
    assert len(text) <= 800


def test_what_is_short_is_quoted_whole_up_to_the_next_heading() -> None:
    passage = "A crop cuts the layer.\n\nUndo it at once.\n\n> Nothing is lost.\n\n#### Other\n\nUnrelated."
    assert texts("What does undo do?", citation(passage)) == [
        "A crop cuts the layer.",
        "Undo it at once.",
        "Nothing is lost.",
    ]


def test_a_list_near_what_answers_does_not_replace_it() -> None:
    filler = "".join(f"Paragraph {n} is about something else altogether.\n\n" for n in range(40))
    passage = f"1. Save the plot.\n2. Send it.\n\n{filler}The output can be diverted to a file by sink.\n\n{filler}"
    found = texts("How can output be diverted to a file?", citation(passage))
    assert "The output can be diverted to a file by sink." in found


def test_a_procedure_is_quoted_whole_and_in_order() -> None:
    passage = "Before.\n\nTo crop:\n\n1. Open the menu.\n2. Choose crop.\n\nA dialog opens.\n\n3. Click OK.\n\nAfter."
    assert texts("How do I crop?", citation(passage, 1, "Crop")) == [
        "To crop: Open the menu. Choose crop.",
        "A dialog opens.",
        "Click OK.",
    ]


@pytest.mark.parametrize(("best", "first"), [(1, "Turn wheel 1 "), (40, "Turn wheel 40 ")])
def test_a_very_long_procedure_is_quoted_in_part(best: int, first: str) -> None:
    steps = [f"{n}. Turn wheel {n} {'until it clicks ' * 20}." for n in range(1, 60)]
    quoted = texts(f"How do I turn wheel {best}?", citation("\n\nNext.\n\n".join(steps), 1, "Wheels"))
    assert quoted[0].startswith(first)
    assert 1 < len(quoted) < 40


def test_steps_alone_are_never_added_to_another_answer() -> None:
    passages = (citation("A crop cuts the image.", 1, "Crop"), citation("4. Crop the image.", 2, "Tasks"))
    assert texts("What is a crop of the image?", *passages) == ["A crop cuts the image."]


def test_the_same_passages_give_the_same_quotes() -> None:
    passages = [citation(f"Crop the layer by number {n}. Layers are cropped.", n, f"T{n}") for n in range(1, 6)]
    assert len({tuple(texts("How do I crop a layer?", *passages)) for _ in range(5)}) == 1


def test_a_row_is_read_under_the_heads_of_its_columns() -> None:
    head = "| Permission | Agent | Light member |\n|---|---|---|"
    table = f"{head}\n| See tickets | all | own |\n| Publish pages | Yes | No |"
    near = citation("Light members read pages.", 1, "Pages")
    scored = rank(parse_question("May a light member publish pages?"), [near, citation(table, 2, "Roles")])
    best = max(scored, key=lambda each: each.score)
    assert best.block.units[best.best].text == "| Publish pages | Yes | No |"


def test_the_section_about_the_subject_is_quoted_before_one_that_mentions_it() -> None:
    menu = citation("The graphs window shows and hides the graphs window.", 1, "View menu", article_id="menu")
    window = citation("Each graph in this window is a chart of packets.", 2, "8.8. Graphs Window")
    assert texts("What does the graphs window show?", menu, window)[0].startswith("Each graph")


def test_a_table_that_the_answer_names_is_quoted_with_it() -> None:
    passage = (
        "There are comparison operators. All operators are shown in Table 6.6.\n\n"
        f"{'Other things are said here, at some length. ' * 30}\n\n"
        "**Table 6.5. Fields**\n\n| Field |\n|---|\n| ip |\n\n"
        "**Table 6.6. Signs**\n\n| Sign | Name |\n|---|---|\n| == | eq |"
    )
    quoted = texts("Which comparison operators are there?", citation(passage))
    assert "| == | eq |" in quoted[-1]
    assert not any("| ip |" in text for text in quoted)


def test_nothing_is_quoted_that_leads_to_what_is_left_out() -> None:
    passage = f"You can export objects.\n\nColumns:\n\n**Number**\n\n{'Its place in the file. ' * 60}"
    assert texts("How can I export objects?", citation(passage)) == ["You can export objects."]


def test_of_long_code_the_lines_around_the_best_are_quoted() -> None:
    options = [
        f"  --{name} <value>\n      sets the {name} of the tool to a value\n" for name in "abcdefghijklmnopqrstuvwx"
    ]
    code = f"```\nUsage: tool [options]\n{''.join(options)}  --ring-buffer <files>\n      replaces the oldest file\n```"
    (quoted,) = texts("How do I set a ring buffer?", citation(f"## Options\n\n{code}"))
    assert "--ring-buffer <files>\n      replaces the oldest file" in quoted
    assert len(quoted) < len(code)
    assert "Usage" not in quoted


def test_the_best_passage_of_the_search_leads_though_another_shares_more_words() -> None:
    leading = citation("Press Escape to leave the display.", 1, "View")
    shares_more = citation("The full screen hides the menu.", 2, "Preferences", article_id="preferences")
    assert texts("How do I leave the full screen?", leading, shares_more) == [
        "Press Escape to leave the display.",
        "The full screen hides the menu.",
    ]


def test_a_section_about_the_subject_leads_before_the_search_s_best_one_if_it_has_more_of_the_question() -> None:
    first = citation("Record all that you buy of capital.", 1, "Purchases", article_id="purchases")
    about = citation("The capital returns to you.", 2, "9.9. Return of capital", article_id="return")
    last = citation("Record depreciation to expense capital, and the return of it.\n\nRecord it.", 3, "Loss")
    assert texts("How do I record a return of capital?", first, about, last)[0] == "The capital returns to you."


@pytest.mark.parametrize(
    "elsewhere",
    [
        "For saving a report configuration, see the chapter about reports.",
        "In this example we will save a report configuration.",
        "This section describes how you save a report configuration.",
        "Now that all is set, let’s save a report configuration.",
    ],
)
def test_what_only_says_where_or_what_will_be_said_answers_nothing(elsewhere: str) -> None:
    says = citation("Press Keep, and the configuration of the report is saved.", 2, "Keeping", article_id="keeping")
    quoted = texts("How do I save a report configuration?", citation(elsewhere, 1, "Start"), says)
    assert quoted[0] == "Press Keep, and the configuration of the report is saved."


def test_what_is_worded_as_an_instruction_leads_where_one_is_asked_for() -> None:
    lists = citation("A window lists the saved reports.", 1, "Saved reports", article_id="lists")
    instructs = citation("To save a report, press Keep.", 2, "Saving a report", article_id="saving")
    assert texts("How do I save a report?", lists, instructs)[0] == "To save a report, press Keep."
    assert texts("What are saved reports?", lists, instructs)[0] == "A window lists the saved reports."


def test_the_other_block_is_followed_by_the_next_ones_too() -> None:
    best = citation("A crop cuts the layer.", 1, "Crop")
    filler = "It is told at length what else there is. " * 40
    other = citation(f"Crop the layer by a mask.\n\nThe mask is kept.\n\n{filler}", 2, "Masks", article_id="masks")
    assert texts("What is a crop of a layer?", best, other) == [
        "A crop cuts the layer.",
        "Crop the layer by a mask.",
        "The mask is kept.",
    ]
