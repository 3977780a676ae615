"""What of a section is quoted first: a few sentences, with all that belongs to them."""

import pytest

from app.answering.extractive.choosing import (
    answering_first,
    best_lead,
    identifiers,
    lead_of,
    named_first,
    near,
    of_other_sections,
)
from app.answering.extractive.quoting import quotation
from app.answering.nearness import Nearness
from app.language.sentences import Unit
from app.language.words import readable
from app.schema.passages import Citation
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline_tests.app.answering.extractive.asking import quoted_of
from kb_pipeline_tests.app.grounding.passages import citation, image

NEARNESS = Nearness(HashingEmbedder())
LONG = " ".join(f"Lamp number {number} of this long series is made of glass and of wood." for number in range(30))
QUESTIONS = (
    "**Why does the lamp blink?**\n\nIt has found a fault. Look up its colour in the table.\n\n"
    "**Who may use it?**\n\nEverybody over six.\n\nChildren need help."
)
PROCEDURE = (
    "To reset the lamp:\n\n1. Open the lid.\n2. Press the red key.\n\n   The lamp blinks.\n\n3. Close the lid.\n\n"
    "The lid is grey and made of steel."
)
TABLE = "The keys are:\n\n| Key | Meaning |\n|---|---|\n| F1 | shows help |\n| F11 | shows the full screen |"
OPTIONS = (
    "**Brightness**\n\nSets how bright the lamp is. It goes from 0 to 100.\n\n"
    "**Colour**\n\nSets the colour of the lamp."
)


def lead(question: str, passage: str) -> list[str]:
    """The units that are quoted first."""
    found = lead_of(question, citation(passage), NEARNESS)
    return [unit.text for unit in found.units] if found else []


def test_the_sentence_that_answers_is_quoted() -> None:
    passage = f"{LONG} A fault is shown by a yellow light. {LONG}"
    assert "A fault is shown by a yellow light." in lead("By which light is a fault shown?", passage)


def test_a_question_with_its_answer_stays_whole() -> None:
    assert lead("Why is my lamp blinking, which colour?", QUESTIONS) == [
        "**Why does the lamp blink?**",
        "It has found a fault.",
        "Look up its colour in the table.",
    ]
    assert lead("Who may use the lamp, do children need help?", QUESTIONS) == [
        "**Who may use it?**",
        "Everybody over six.",
        "Children need help.",
    ]


BRIGHTNESS = (
    "**brightness**\n\nSets how much light the lamp gives to the room in which it stands, by day and by night. "
    "The value of this option is a number of lumens, and a value of zero switches the lamp off until somebody sets "
    "another value.{} Values that are above the limit count as the limit."
)


def test_what_a_name_stands_for_is_quoted_from_its_first_sentence() -> None:
    question, first = "What happens to brightness values above the limit?", "Sets how much light the lamp gives"
    short = lead(question, BRIGHTNESS.format(""))
    assert [unit[:34] for unit in short[:2]] == ["**brightness**", first]
    assert len(short) == 4
    long = lead(question, BRIGHTNESS.format(f" {LONG}"))
    assert [unit[:34] for unit in long[:2]] == ["**brightness**", first]
    assert long[-1] == "Values that are above the limit count as the limit."
    assert len(readable(" ".join(long)).split()) <= 100


def test_a_paragraph_is_quoted_from_its_beginning_if_there_is_room() -> None:
    passage = "The lamp has a fuse. It blows when lightning strikes the roof."
    assert lead("What blows when lightning strikes the roof?", passage)[0] == "The lamp has a fuse."
    assert LONG[:60] not in lead("Which fault has a yellow light?", f"{LONG} A fault has a yellow light.")[0]


HEADINGS = (
    "The red key of the lamp is red.\n\n## 2. The red key\n\nIt blinks when it is hot, and nobody touches it then.\n\n"
    "Children press the red key only once, and never a key that is red.\n\n## 3. Other keys\n\n### The red one\n\n"
    "A key may be red."
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("The red key", "It blinks when it is hot, and nobody touches it then."),
        ("2. the red key?", "It blinks when it is hot, and nobody touches it then."),
        ("How do I use the red key?", "Children press the red key only once, and never a key that is red."),
        ("Other keys", "A key may be red."),
        ("What is the red key of the lamp?", "The red key of the lamp is red."),
    ],
)
def test_who_asks_in_the_words_of_a_heading_is_answered_by_its_section(question: str, quoted: str) -> None:
    assert quoted in lead(question, HEADINGS)[:1], "a heading alone is read from its beginning"


def test_the_section_that_is_named_is_quoted_before_those_that_say_its_words_oftener() -> None:
    oftener = citation("A part of a list of parts is a part.", 1)
    later = citation("### Screws\n\nOf steel.", 2, "Guide", "4. List of parts", "Screws")
    named = citation("## 4. List of parts\n\nAll of them.", 3, "Guide", "4. List of parts")
    bare = citation("## List of parts", 4)

    assert named_first("A list of the parts", [oftener, later, named, bare]) == [named, later, oftener, bare]
    assert named_first("A list of the steel parts", [oftener, later, named]) == [oftener, later, named]


@pytest.mark.parametrize(("heading", "first"), [("How hot is it? (Ann, May 1)", 3), ("How hot it is (Ann, May 1)", 1)])
def test_what_stands_below_a_heading_that_asks_answers_it(heading: str, first: int) -> None:
    asked = citation("The lamp blinks, how hot is it?", 1, "Lamp", heading)
    elsewhere = citation("It is hot.", 2, "Lamp", "Another question?", "Eve, May 3")
    answer = citation("80 degrees.", 3, "Lamp", heading, "Bob, May 2")

    found = answering_first([asked, elsewhere, answer])
    assert found == sorted(found, key=lambda each: (each.number != first, each.number))
    lead = best_lead("How hot is a lamp that blinks?", found, NEARNESS)
    assert lead and lead.citation.number == first


def test_an_option_is_quoted_with_its_name() -> None:
    assert lead("From what to what does it go?", OPTIONS) == [
        "**Brightness**",
        "Sets how bright the lamp is.",
        "It goes from 0 to 100.",
    ]


COMMANDS = (
    "**\\\\watch**\n\nRepeats what was asked for last, and shows the time of each lamp that it asks.\n\n"
    "**\\\\timing**\n\nTurns a display on or off.\n\n**\\-\\-exclude\\_dir=GLOB**, **-e**\n\nLeaves some out."
)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What does \\timing do, is the time shown?", "\\\\timing"),
        ("When do I ask with --exclude_dir?", "\\-\\-exclude"),
    ],
)
def test_an_option_that_the_question_says_is_quoted_whatever_is_nearer(question: str, name: str) -> None:
    assert lead(question, COMMANDS)[0].startswith(f"**{name}")


def test_a_passage_with_the_option_that_the_question_says_has_no_rival() -> None:
    question = "What does \\timing do?"
    found = passages("What does timing do? It does what timing does.", COMMANDS)
    ordered = named_first(question, found)
    assert [each.number for each in ordered] == [2, 1]
    quoted = best_lead(question, ordered, NEARNESS)
    assert quoted is not None
    assert quoted.citation.number == 2
    assert named_first("What does the timing do?", found) == found


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Part P-10888 of 2 costs 30 EUR", {"p-10888"}),
        ("`--exclude-dir`, *max\\_connections* and $HOME", {"--exclude-dir", "max_connections", "$home"}),
        ("well-known _words_ - or __names__", set()),
    ],
)
def test_identifiers_are_told_from_words(text: str, known: set[str]) -> None:
    assert identifiers(text) == known


@pytest.mark.parametrize("question", ["How do I reset the lamp?", "When do I press the red key?"])
def test_all_steps_of_a_procedure_stay_together(question: str) -> None:
    assert lead(question, PROCEDURE) == [
        "To reset the lamp:",
        "Open the lid.",
        "Press the red key.",
        "The lamp blinks.",
        "Close the lid.",
    ]


def test_of_rows_that_differ_by_a_number_the_one_that_is_asked_for_is_quoted() -> None:
    rows = "| P-10881 | What is the price of a part? |\n| P-10888 | 30 EUR |\n| P-10889 | What a price! |"
    *_, row = lead("What is the price of part P-10888?", f"| Part | Note |\n|---|---|\n{rows}")
    assert row == "| P-10888 | 30 EUR |"


def test_sentences_around_a_procedure_are_quoted_without_parts_of_it() -> None:
    passage = "The lid is grey and made of steel.\n\n1. Open the lid.\n2. Press the red key.\n3. Close the lid."
    assert lead("Of which grey steel is it made?", passage) == ["The lid is grey and made of steel."]


def test_of_a_long_procedure_the_steps_from_the_best_on_are_quoted() -> None:
    wheels = [
        f"{n}. Turn wheel number {n} until it clicks and the small lamp beside it goes out." for n in range(1, 41)
    ]
    quoted = lead("How do I turn wheel number 33?", "\n".join(wheels))
    assert quoted[0].startswith("Turn wheel number ")
    assert any("number 33 " in step for step in quoted)
    assert sum(map(len, quoted)) <= 1600


def test_a_row_of_a_table_is_quoted_with_its_head() -> None:
    assert lead("Which key shows the full screen?", TABLE) == [
        "The keys are:",
        "| Key | Meaning |",
        "| F11 | shows the full screen |",
    ]


def test_an_item_of_a_list_is_quoted_with_what_introduces_it() -> None:
    items = "\n".join(f"- Item {n} of the {name} series is sold in shops only." for n, name in enumerate("abcdefgh"))
    quoted = lead("Where is item 6 of the g series sold?", f"These lamps are on sale:\n\n{items}")
    assert quoted[0] == "These lamps are on sale:"
    assert any("Item 6 " in unit for unit in quoted)


def test_at_most_seventy_words_are_quoted() -> None:
    words = readable(" ".join(lead("Which lamp is made of glass?", LONG))).split()
    assert 40 <= len(words) <= 70


def test_a_passage_without_text_has_nothing_to_quote() -> None:
    assert lead("How?", "") == []
    assert lead("How?", image("a")) == []


def passages(*texts: str, heading: str = "") -> list[Citation]:
    return [citation(text, at, "Lamps", heading or f"Section {at}") for at, text in enumerate(texts, 1)]


def test_the_first_passage_with_text_is_quoted() -> None:
    found = quoted_of("How?", passages(image("a"), "Press it."), is_sure=True)
    assert found is not None
    assert (found.lead.citation.number, [each.number for each in found.section]) == (2, [2])
    assert quoted_of("How?", passages(""), is_sure=True) is None


def test_the_sentence_that_answers_may_stand_in_another_passage() -> None:
    best, answers, farther = (
        citation(text, number, "Lamps", heading).model_copy(update={"score": score})
        for number, text, heading, score in (
            (1, "A lamp is sold with a plug.", "Lamps", 1.0),
            (2, "The plug of a red lamp is made of rubber.", "Plugs", 0.95),
            (3, "The plug of a red lamp is made of rubber.", "Old plugs", 0.7),
        )
    )

    def number(question: str, *passages: Citation) -> int:
        found = best_lead(question, passages, NEARNESS)
        assert found
        return found.citation.number

    asked = "What is the plug of a red lamp made of?"
    assert number(asked, best, answers) == 2
    assert number(asked, best, farther) == 1, "a section that is much farther has no sentence that answers better"
    assert number("Lamps", best, answers) == 1, "a heading that is named has no rival"


def test_more_sections_are_quoted_if_the_search_is_not_sure() -> None:
    citations = passages("Press it.", "Pull it.", "Push it.", "Turn it.")
    sure, unsure = (quoted_of("How?", citations, is_sure=is_sure) for is_sure in (True, False))
    assert sure and unsure
    assert ([each.number for each in sure.more], [each.number for each in sure.others]) == ([], [2, 3, 4])
    assert ([each.number for each in unsure.more], [each.number for each in unsure.others]) == ([2, 3], [4])


def test_a_section_that_is_as_near_is_quoted_as_well() -> None:
    first, second = passages("Press it.", "Pull it.")
    second = second.model_copy(update={"score": first.score})
    found = quoted_of("How do I press it?", [first, second], is_sure=True)
    assert found
    assert found.more == (second,)


def test_a_section_that_is_much_farther_is_not_named() -> None:
    first, second, third = (citation(f"Part {n} is red.", n, "Parts", f"Part {n}") for n in (1, 2, 3))
    found = [first, second, third.model_copy(update={"score": 0.7})]
    assert near(found) == found[:2]
    chosen = quoted_of("Which part is red?", found, is_sure=True)
    assert chosen
    assert (chosen.more, chosen.others) == ((), (found[1],))


def test_of_each_other_section_only_its_first_passage_is_named() -> None:
    same = passages("One.", "Two.", heading="Same")
    others = [citation("Three.", 3, "Lamps", "Other"), citation("Four.", 4, "Lamps", "Other")]
    assert [each.number for each in of_other_sections([*same, *others], same[:1])] == [3]


def shown(question: str, *texts: str) -> list[str]:
    citations = passages(*texts)
    found = quoted_of(question, citations, is_sure=True)
    return [picture.url.rpartition("/")[2] for picture in found.pictures] if found else []


def test_the_picture_beside_what_is_quoted_is_shown() -> None:
    passage = f"{image('far')}\n\n{LONG}\n\nPress the red key.\n\n{image('near')}"
    assert shown("How do I press the red key?", passage) == ["near.png"]


def test_the_picture_of_the_section_that_fits_best_is_shown_where_none_is_beside() -> None:
    many = "\n\n".join(LONG.split(". "))
    pictures = f"{image('lid', 'A lid.')}\n\n{image('key', 'The red key pressed.')}"
    passage = f"Press the red key to reset it.\n\n{many}.\n\n{pictures}"
    assert shown("How do I press the red key to reset it?", passage) == ["key.png"]


def test_a_picture_of_another_section_is_shown_if_it_says_more_than_the_text() -> None:
    asked = "Scale dialog: Interpolation Cubic"
    pictured = image("scale", "Scale dialog: Interpolation Cubic")
    assert shown(asked, "The dialog opens from a menu.", pictured) == ["scale.png"]
    assert shown("How does the dialog open from a menu?", "The dialog opens from a menu.", pictured) == []


def test_a_short_list_is_quoted_whole_with_what_introduces_it() -> None:
    passage = "It has three roles:\n\n- Viewer: sees\n- Editor: writes\n- Owner: may do everything\n\nRoles change."
    assert lead("Which role may do everything?", passage)[0] == "It has three roles:"
    assert len(lead("Which role may do everything?", passage)) == 4


def test_nothing_that_is_left_out_is_announced() -> None:
    passage = "The lamp has a dialog. It works in two modes:\n\n**Day**\n\nbright"
    assert lead("Does the lamp have a dialog?", passage) == ["The lamp has a dialog."]


def test_no_question_is_quoted_without_its_answer() -> None:
    answers = "  \nOnly indoors, with a long cable, and never in rain, as its case is open."
    passage = f"**May it hang?**{answers}\n\n**May it stand?**{answers}\n\n**Who may clean it?**  \nEverybody."
    quoted = lead("May the lamp hang or stand indoors with its cable?", passage)
    assert "**May it stand?**" in quoted
    assert "**Who may clean it?**" not in quoted


def test_a_table_within_a_step_belongs_to_the_procedure() -> None:
    passage = (
        "1. Open the lid.\n2. Choose who may use it:\n\n   | Who | What |\n   |---|---|\n   | All | Lamp |\n\n3. Save."
    )
    assert "1. Open" in quotation(_units("Who may use the lamp?", passage), "[Ref #1]")
    assert quotation(_units("Who may use the lamp?", passage), "[Ref #1]").splitlines()[-2:] == [
        ">     | All | Lamp |",
        "> 3. Save. [Ref #1]",
    ]


def _units(question: str, passage: str) -> tuple[Unit, ...]:
    found = lead_of(question, citation(passage), NEARNESS)
    return found.units if found else ()


def test_a_picture_within_an_item_is_no_text_of_it() -> None:
    block = image("lid", "A lid. Text on screen: open, close").replace("\n", "\n  ")
    passage = f"- {block}\n\n  Open the lid before you clean it.\n- Close it."
    assert lead("Which lid do I open to clean it?", passage) == ["Open the lid before you clean it.", "Close it."]
    found = quoted_of("Which lid do I open?", passages(passage), is_sure=True)
    assert found and [picture.url.rpartition("/")[2] for picture in found.pictures] == ["lid.png"]
