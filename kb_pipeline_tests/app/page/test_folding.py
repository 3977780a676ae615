"""As much of an answer is shown at once as a first screen has room for; the rest is behind "Show more"."""

import pytest

from app.page.folding import begin_of_fold

LEAD = "> The command adds a mask to the layer. [Ref #1]\n\n"
PLACE = "From *Layer masks*:\n\n"
WAY = "> - Choose Layer → Mask → Add Layer Mask\n> - or click on the layer with the right button. [Ref #2]\n\n"
OTHERS = "**See also**\n\n- *Masks* [Ref #3]\n\n"
LONG = "a word " * 90  # 630 characters


def parts(lead: str, folded: str, end: str = "*Quoted.*") -> tuple[str, str]:
    """What is shown of what may be folded, and what is not."""
    text = lead + folded + end
    begin = begin_of_fold(text, len(lead), len(lead + folded))
    return text[len(lead) : begin], text[begin : len(lead + folded)]


def test_a_section_that_has_room_is_shown_and_where_else_to_look_stays_folded() -> None:
    assert parts(LEAD, PLACE + WAY + OTHERS) == (PLACE + WAY, OTHERS)


def test_below_a_long_answer_all_stays_folded() -> None:
    assert parts(f"> {LONG}{LONG}\n\n", PLACE + WAY) == ("", PLACE + WAY)


def test_a_long_quotation_is_shown_up_to_the_end_of_a_paragraph() -> None:
    shown, folded = parts(LEAD, f"{PLACE}> {LONG}\n>\n> {LONG}\n>\n> The end. [Ref #2]\n\n")
    assert shown.count(LONG.strip()) == 2, "the second begins on the first screen"
    assert folded == "> The end. [Ref #2]\n\n"


def test_a_name_of_a_section_never_stands_last() -> None:
    assert parts(f"> {'a word ' * 104}\n\n", PLACE + WAY) == ("", PLACE + WAY)


@pytest.mark.parametrize(
    "whole",
    [
        "> 1. Open it.\n>\n>    ![Form](/api/images/a/b.png)\n>\n> 2. Save it.\n\n",
        "> ```\n> first\n>\n> second\n> ```\n\n",
        "> | a | b |\n> | --- | --- |\n> | 1 | 2 |\n\n",
        "> > What another said\n> >\n> > on two lines\n\n",
    ],
    ids=["list", "code", "table", "quotation within"],
)
def test_what_belongs_together_is_not_parted(whole: str) -> None:
    lead = f"> {'a word ' * 95}\n\n"
    assert parts(lead, f"{whole}> {LONG}\n\n> The end.\n\n")[0].startswith(whole)


def test_a_picture_takes_the_room_of_a_paragraph() -> None:
    picture = "![A form](/api/images/a/b.png)\n\n"
    assert parts(f"{LEAD}{picture}", f"> {LONG}\n\n{PLACE}{WAY}") == (f"> {LONG}\n\n", PLACE + WAY)


def test_a_procedure_that_was_begun_is_shown_to_its_last_step() -> None:
    picture = "![A form](/api/images/a/b.png)\n\n"
    first = f"{PLACE}> 1. Open the form. [Ref #2]\n\n{picture}{picture}"
    steps = f"> 2. Enter a name.\n> 3. Choose a trigger. [Ref #2]\n\n{picture}> 4. Save it. [Ref #2]\n\n"
    assert parts(LEAD, first + steps + OTHERS) == (first + steps, OTHERS)


def test_behind_the_last_step_its_result_is_shown_but_no_more_of_the_section() -> None:
    first = f"{PLACE}> 1. Open the form. [Ref #2]\n\n![A form](/api/images/a/b.png)\n\n![More](/api/images/a/c.png)\n\n"
    result = "> 2. Save it.\n>\n> **Warning:** It applies at once. [Ref #2]\n\n"
    assert parts(LEAD, first + result + OTHERS) == (first + result, OTHERS)
    step, rest = "> 2. Save it.\n>\n", f"> {LONG}\n>\n> {LONG} [Ref #2]\n\n"
    assert parts(LEAD, first + step + rest) == (first + step, rest)


def test_below_a_long_answer_a_list_that_only_goes_on_stays_folded() -> None:
    steps = f"{PLACE}> 2. Enter a name.\n> 3. Save it. [Ref #2]\n\n"
    assert parts(f"> {LONG}{LONG}\n\n", steps) == ("", steps)


def test_of_an_answer_without_a_fold_nothing_is_folded() -> None:
    assert begin_of_fold(LEAD, len(LEAD), len(LEAD)) == len(LEAD)
