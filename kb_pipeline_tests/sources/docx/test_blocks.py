"""What the paragraphs of Word documents are: headings, items with the numbers that Word prints, code, text of items."""

import pytest

from kb_pipeline.sources import source_of
from kb_pipeline.steps.html import convert_document
from kb_pipeline_tests.sources.word import document, item, level, numbering, paragraph, style, styles, table

STEPS = (level(0), level(1, "%2)", "lowerLetter"))
BULLETS = (level(0, "•", "bullet"), level(1, "•", "bullet"))
LEGAL = (level(0, "%1."), level(1, "%1.%2"), level(2, "%1.%2.%3"))
LISTS = numbering(STEPS, BULLETS, (level(0, start=4),), LEGAL)


def markdown(*body: str, parts: dict[str, str] | None = None) -> str:
    data = document(*body, parts=LISTS if parts is None else parts)
    found = source_of("docx").read("guide", "guide.docx", data)
    pages = [page.number for page in found.pages]
    return convert_document("guide", "guide.docx", found.html, {}, pages).markdown.strip()


def lines(*body: str, parts: dict[str, str] | None = None) -> list[str]:
    """The lines that hold something; a list right after another one has the other sign behind its numbers."""
    return [line for line in markdown(*body, parts=parts).replace("\\", "").split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("between", "shown"),
    [
        pytest.param(item("Red", 2) + item("Blue", 2), ["- Red", "- Blue"], id="bullets"),
        pytest.param(table(("A", "B"), ("1", "2")), ["| A | B |", "| --- | --- |", "| 1 | 2 |"], id="table"),
        pytest.param(paragraph("More", "Heading 1"), ["# More"], id="heading"),
        pytest.param(paragraph("Text.") * 4, ["Text."] * 4, id="a longer text"),
        pytest.param(paragraph(""), [], id="empty"),
        pytest.param(item("First", 3), ["4) First"], id="another list"),
    ],
)
def test_a_list_goes_on_counting_after_what_stands_between(between: str, shown: list[str]) -> None:
    body = (item("One", 1), item("Two", 1), between, item("Three", 1), item("Four", 1))
    assert lines(*body) == ["1. One", "2. Two", *shown, "3. Three", "4. Four"]


@pytest.mark.parametrize(
    ("between", "shown"),
    [
        pytest.param(paragraph("It is hot."), "   It is hot.\n\n", id="text"),
        pytest.param(paragraph("It is hot.") * 2, "   It is hot.\n\n" * 2, id="two paragraphs"),
        pytest.param(paragraph("run", "Source Code"), "   ```\n   run\n   ```\n\n", id="code"),
        pytest.param(paragraph("Beware.", "Quote"), "   > Beware.\n\n", id="a quote"),
        pytest.param(paragraph("") + paragraph("It is hot."), "   It is hot.\n\n", id="behind an empty line"),
    ],
)
def test_the_text_between_two_steps_belongs_to_the_first(between: str, shown: str) -> None:
    assert markdown(item("One", 1), between, item("Two", 1)) == f"1. One\n\n{shown}2. Two"
    assert not markdown(item("One", 1), between).startswith("1. One\n\n   ")  # no step follows


def test_the_text_between_belongs_to_the_step_that_goes_on() -> None:
    deep = (item("A", 1), item("b", 1, 1), paragraph("Text."), item("c", 1, 1), paragraph("More."), item("D", 1))
    assert lines(*deep) == ["1. A", "   - a) b", "     Text.", "   - b) c", "   More.", "2. D"]


def test_a_list_begins_where_it_says() -> None:
    again = (
        '<w:num w:numId="9"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
        "</w:lvlOverride></w:num>"
    )
    parts = numbering(STEPS, BULLETS, (level(0, start=4),), instances=again)
    assert lines(item("Four", 3), item("Five", 3), parts=parts) == ["4. Four", "5. Five"]
    assert lines(item("One", 1), item("Seven", 9), item("Eight", 9), parts=parts) == ["1. One", "7) Seven", "8) Eight"]


def test_instances_of_one_definition_go_on_counting_one_another() -> None:
    parts = numbering(STEPS, instances='<w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num>')
    assert lines(item("One", 1), paragraph("Text."), item("Two", 5), parts=parts) == ["1. One", "   Text.", "2. Two"]


def test_two_lists_of_their_own_both_begin() -> None:
    parts = numbering(STEPS, STEPS)
    assert markdown(item("One", 1), item("First", 2), item("Second", 2), parts=parts) == "\n".join(
        ["1. One", "", "1) First", "2) Second"]
    )


def test_numbers_that_are_no_plain_count_stand_as_they_are_printed() -> None:
    assert lines(
        item("Mount", 4),
        item("Drill", 4, 1),
        item("Hang", 4, 1),
        item("Left", 4, 2),
        item("Test", 4),
        item("Run", 4, 1),
    ) == ["1. Mount", "   - 1.1 Drill", "   - 1.2 Hang", "     - 1.2.1 Left", "2. Test", "   - 2.1 Run"]


@pytest.mark.parametrize(
    ("kind", "text", "printed"),
    [
        ("lowerLetter", "%1)", "c)"),
        ("upperLetter", "%1.", "C."),
        ("lowerRoman", "(%1)", "(iii)"),
        ("upperRoman", "%1.", "III."),
        ("decimalZero", "%1.", "03."),
        ("decimal", "Step %1:", "Step 3:"),
        ("decimal", "§ %1", "§ 3"),
    ],
)
def test_the_kind_of_numbers_is_kept(kind: str, text: str, printed: str) -> None:
    parts = numbering((level(0, text, kind, start=3),))
    assert lines(item("Press it", 1), parts=parts) == [f"- {printed} Press it"]


def test_legal_numbers_are_digits_at_every_level() -> None:
    parts = numbering((level(0, "Article %1.", "upperRoman"), level(1, "%1.%2", more="<w:isLgl/>")))
    assert lines(item("Name", 1), item("Purpose", 1, 1), parts=parts) == ["- Article I. Name", "  - 1.1 Purpose"]


def test_a_deeper_level_begins_again_below_each_item_unless_it_does_not() -> None:
    body = (item("A", 1), item("b", 1, 1), item("C", 1), item("d", 1, 1))
    assert lines(*body) == ["1. A", "   - a) b", "2. C", "   - a) d"]
    going_on = numbering((level(0), level(1, "%2)", "lowerLetter", more='<w:lvlRestart w:val="0"/>')))
    assert lines(*body, parts=going_on) == ["1. A", "   - a) b", "2. C", "   - b) d"]


def test_items_without_words_and_deleted_ones() -> None:
    deleted = item("<w:del><w:r><w:delText>Gone</w:delText></w:r></w:del>", 1)
    deleted = deleted.replace("</w:numPr>", "</w:numPr><w:rPr><w:del/></w:rPr>")
    assert lines(item("One", 1), item("", 1), item("Three", 1)) == ["1. One", "3) Three"]  # Word counts it
    assert lines(item("One", 1), deleted, item("Two", 1)) == ["1. One", "2. Two"]


def test_text_at_the_place_of_an_item_belongs_to_it() -> None:
    at_item = '<w:p><w:pPr><w:ind w:left="720"/></w:pPr><w:r><w:t>It is hot.</w:t></w:r></w:p>'
    body = (item("One", 1, indent=720), at_item, item("Two", 1, indent=720), paragraph("Done."))
    assert markdown(*body) == "1. One\n\n   It is hot.\n\n2. Two\n\nDone."


def test_text_that_is_all_indented_belongs_to_no_item() -> None:
    indented = '<w:p><w:pPr><w:ind w:left="720"/></w:pPr><w:r><w:t>All text begins here.</w:t></w:r></w:p>'
    body = (indented, indented, item("One", 1, indent=720), indented, paragraph("Done."))
    assert markdown(*body).split("\n\n")[2:] == ["1. One", "All text begins here.", "Done."]


def test_text_that_a_list_only_indents_belongs_to_the_item_before_it() -> None:
    no_bullet = level(0, " ", "bullet").replace("</w:lvl>", '<w:pPr><w:ind w:left="720"/></w:pPr></w:lvl>')
    parts = numbering(STEPS, (no_bullet,))
    body = (item("One", 1, indent=720), item("It is hot.", 2), item("Two", 1, indent=720))
    assert markdown(*body, parts=parts) == "1. One\n\n   It is hot.\n\n2. Two"
    anchored = item('<w:bookmarkStart w:id="1" w:name="step"/><w:bookmarkEnd w:id="1"/>', 1, indent=720)
    assert markdown(item("One", 1, indent=720), anchored, item("Two.", 2), parts=parts) == "1. One\n2. Two."


def test_lists_of_their_own_are_nested_by_their_places() -> None:
    body = (item("One", 1, indent=720), item("red", 2, indent=1440), item("blue", 2, indent=1440), item("Two", 1))
    assert markdown(*body) == "1. One\n   - red\n   - blue\n2. Two"


def test_styles_make_items() -> None:
    in_list = '<w:numPr><w:numId w:val="{}"/></w:numPr><w:ind w:left="{}"/>'
    parts = numbering((level(0, "•", "bullet"),), (level(0, "•", "bullet"),), (level(0),)) | styles(
        style("ListBullet", name="List Bullet", properties=in_list.format(1, 360)),
        style("ListBullet2", name="List Bullet 2", properties=in_list.format(2, 720)),
        style("ListNumber", name="List Number", properties=in_list.format(3, 360)),
        style("HouseBullet", "ListBullet", "House bullet"),
    )
    body = (paragraph("A", "ListBullet"), paragraph("b", "ListBullet2"), paragraph("C", "HouseBullet"))
    assert markdown(*body, parts=parts) == "- A\n  - b\n- C"
    assert markdown(paragraph("A", "ListNumber"), paragraph("B", "ListNumber"), parts=parts) == "1. A\n2. B"
    no_item = '<w:p><w:pPr><w:pStyle w:val="ListBullet"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>{}</w:p>'
    assert markdown(no_item.format("<w:r><w:t>Text.</w:t></w:r>"), parts=parts) == "Text."


def test_a_list_may_be_defined_by_a_style_of_lists() -> None:
    linked = (
        '<w:abstractNum w:abstractNumId="8"><w:numStyleLink w:val="House"/></w:abstractNum>'
        '<w:num w:numId="8"><w:abstractNumId w:val="8"/></w:num>'
    )
    parts = numbering((level(0, "(%1)", "lowerLetter"),), instances=linked) | styles(
        style("House", properties='<w:numPr><w:numId w:val="1"/></w:numPr>')
    )
    assert lines(item("One", 8), parts=parts) == ["- (a) One"]


HOUSE = styles(
    style("Heading1", name="heading 1"),
    style("berschrift2", name="heading 2,h2"),
    style("Heading7", name="heading 7"),
    style("Title", name="Title"),
    style("HouseTitle", "Title", "House title"),
    style("Kapitel", "Heading1", "Kapitel Firma"),
    style("Abschnitt", "Kapitel", "Abschnitt", '<w:outlineLvl w:val="1"/>'),
    style("Own", name="Own chapter", properties='<w:outlineLvl w:val="2"/>'),
    style("Boxed", "Heading1", "Boxed", '<w:outlineLvl w:val="9"/>'),
    style("Listing", "SourceCode", "House listing"),
    style("SourceCode", name="Source Code"),
    style("Cite", "Quote", "House quote"),
    style("Quote", name="Quote"),
)


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("Kapitel", "# Words"),
        ("Abschnitt", "## Words"),
        ("berschrift2", "## Words"),
        ("Own", "### Words"),
        ("Heading7", "###### Words"),
        ("HouseTitle", "# Words"),
        ("Boxed", "Words"),
        ("Listing", "```\nWords\n```"),
        ("Cite", "> Words"),
        ("Unknown", "Words"),
        ("Heading 3", "### Words"),
    ],
)
def test_a_style_is_what_it_is_based_on(key: str, written: str) -> None:
    assert markdown(paragraph("Words", key), parts=HOUSE) == written


def test_a_paragraph_may_be_a_heading_by_itself() -> None:
    heading = '<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Limits</w:t></w:r></w:p>'
    assert markdown(paragraph("Text."), heading) == "Text.\n\n## Limits"


def test_headings_carry_their_numbers() -> None:
    parts = HOUSE | numbering((level(0, "%1", more='<w:pStyle w:val="Heading1"/>'), level(1, "%1.%2")))
    numbered = '<w:numPr><w:numId w:val="1"/></w:numPr>'
    parts |= styles(
        style("Heading1", name="heading 1", properties=numbered),
        style("Heading2", name="heading 2", properties=numbered.replace("<w:numPr>", '<w:numPr><w:ilvl w:val="1"/>')),
        style("Annex", "Heading1", "Annex", '<w:numPr><w:numId w:val="0"/></w:numPr>'),
    )
    body = [("Scope", "Heading1"), ("Limits", "Heading2"), ("Rules", "Heading1"), ("Exceptions", "Heading2")]
    shown = lines(*(paragraph(*one) for one in body), paragraph("Forms", "Annex"), parts=parts)
    assert shown == ["# 1 Scope", "## 1.1 Limits", "# 2 Rules", "## 2.1 Exceptions", "# Forms"]


def test_a_number_stands_on_the_page_of_its_heading() -> None:
    broken = "<w:r><w:lastRenderedPageBreak/><w:t>Rules</w:t></w:r>"
    body = (item("Scope", 4, style="Heading1"), item(broken, 4, style="Heading1"))
    assert lines(*body) == ["[[PAGE:1]]", "# 1. Scope", "[[PAGE:2]]", "# 2. Rules"]


def mono(text: str, style: str = "") -> str:
    run = f'<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
    return paragraph(run, style)


def test_code_is_known_by_its_font() -> None:
    prose = paragraph("This is what an ordinary paragraph of the document looks like.")
    assert markdown(prose, mono("if ready:"), mono("    start()"), prose).split("\n\n")[1] == (
        "```\nif ready:\n    start()\n```"
    )
    inline = mono("start").replace("<w:p>", '<w:p><w:r><w:t xml:space="preserve">Call </w:t></w:r>')
    assert markdown(prose, inline).endswith("Call `start`")
    assert markdown(mono("A memo."), mono("Typed on an old machine.")) == "A memo.\n\nTyped on an old machine."


def test_a_damaged_list_is_text() -> None:
    beyond = numbering((level(12, "%1", more='<w:pStyle w:val="Heading1"/>'),))
    assert lines(item("One", 1, style="Heading1"), parts=beyond) == ["# One"]
    assert lines(item("One", 77), item("Two", 1, 8)) == ["One", "Two"]
    loop = (
        '<w:abstractNum w:abstractNumId="8"><w:numStyleLink w:val="House"/></w:abstractNum>'
        '<w:num w:numId="8"><w:abstractNumId w:val="8"/></w:num>'
    )
    parts = numbering(STEPS, instances=loop) | styles(
        style("House", "House", properties='<w:numPr><w:numId w:val="8"/></w:numPr>')
    )
    assert lines(item("One", 8), parts=parts) == ["One"]
