"""Image markers: read however a service wrote them, put back where it lost them, never at another step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.steps.markers import find_markers
from kb_pipeline_tests.steps.html.pages import convert, image, markdown, rendered
from kb_pipeline_tests.steps.restore.services import restored, restored_text

OPTIONS = image("tool_options.png")
STEP_1, STEP_2, STEP_3 = (image(f"step-{number}.png") for number in (1, 2, 3))
STEPS = """
<h1>Set up</h1><p>Open the settings of your account.</p><p><img src="step-1.png"></p>
<p>Choose the language you want.</p><p><img src="step-2.png"></p>
<h2>Finish</h2><p>Save everything at the end.</p><p><img src="step-3.png"></p>
"""
TEXT = """# Set up

Open the settings of your account.

{}

Choose the language you want.

{}

## Finish

Save everything at the end.

{}"""
AMONG_LOST_WORDS = """
<p>Open the settings of your account.</p><p>Pick colour, language, region.</p><p><img src="step-1.png"></p>
<p>Confirm with OK, please.</p><p>Save everything at the end.</p>
"""
WHOLE = TEXT.format("[[IMG:step-1.png]]", "[[IMG:step-2.png]]", "[[IMG:step-3.png]]")


@pytest.mark.parametrize(
    "written",
    [
        "[[IMG:tool_options.png]]",
        r"[[IMG:tool\_options.png]]",
        r"\[\[IMG:tool\_options.png\]\]",
        "[[ IMG: tool_options.png ]]",
        "[ [IMG:tool_options.png] ]",
        "[IMG:tool_options.png]]",
        "[[IMG:tool_options.png]",
        "[[IMG:tool_options.png",
        "IMG:tool_options.png]]",
        "((IMG:tool_options.png))",
        "[[1MG:t00l_opti0ns.png]]",
        "[[lMG:too1_optlons.png]]",
        "[[IMG;tool_options. png]]",
        "[[IMG:tool\n_options.png]]",
        "[[IMG:TOOL_OPTIONS.PNG]]",
        "[[IMG:toolOptions.png]]",
        "[[IMG:tool_opt1ons.pmg]]",
        "`[[IMG:tool_options.png]]`",
    ],
)
def test_a_marker_is_recognised_however_it_was_altered(written: str) -> None:
    html = "<p>Choose the tool <img src='tool_options.png'> from the box.</p>"
    article = restored(html, f"Choose the tool {written} from the box.", OPTIONS)
    assert article.markdown.split() == "Choose the tool [[IMG:tool_options.png]] from the box.".split()
    assert bool(article.warnings) == (written.strip("`") != "[[IMG:tool_options.png]]")


def test_a_marker_in_a_code_block_of_its_own_is_one() -> None:
    assert restored_text(STEPS, TEXT.format("```\n[[IMG:step-1.png]]\n```", "", ""), STEP_1, STEP_2, STEP_3) == WHOLE


@pytest.mark.parametrize(
    "read",
    [
        "    Choose the tool [[IMG:tool_options.png]] from the box.",
        "```\nChoose the tool [[IMG:tool_options.png]] from the box.\n```",
        "`Choose the tool [[IMG:tool_options.png]] from` the box.",
    ],
)
def test_a_marker_in_text_that_was_taken_for_code_stays_in_its_place(read: str) -> None:
    html = "<p>Before it.</p><p>Choose the tool <img src='tool_options.png'> from the box.</p>"
    article = restored(html, f"Before it.\n\n{read}", OPTIONS)
    assert article.markdown.strip() == markdown(html, OPTIONS)
    assert article.warnings == ()


def test_a_marker_in_code_of_the_service_is_text_of_it() -> None:
    read = "Choose the tool from the box.\n\n```\nx = [[IMG:tool_options.png]]\n```"
    article = restored("<p>Choose the tool <img src='tool_options.png'> from the box.</p>", read, OPTIONS)
    assert "x = [[IMG:tool_options.png]]\n" in article.markdown
    assert article.markdown.startswith("Choose the tool [[IMG:tool_options.png]] from the box.")


@pytest.mark.parametrize("written", ["[[IMG:step-7.png]]", "[[IMG:step-.png]]", "[[IMG:step-2.png]]", "[[IMG:?]]", ""])
def test_a_name_that_may_be_several_is_decided_by_its_place(written: str) -> None:
    text = TEXT.format(written, "[[IMG:step-2.png]]", "[[IMG:step-3.png]]")
    found = [marker.file for marker in find_markers(restored(STEPS, text, STEP_1, STEP_2, STEP_3).markdown)]
    assert found == ["step-1.png", "step-2.png", "step-3.png"]


def test_lost_markers_go_where_their_text_stands() -> None:
    article = restored(STEPS, TEXT.format("", "", ""), STEP_1, STEP_2, STEP_3)
    assert article.markdown.strip() == WHOLE
    assert article.unplaced_images == 0
    assert article.warnings == ("a-service-1 altered the places of images: 3 lost images put back after the same text",)


def test_the_text_before_an_image_may_be_misread() -> None:
    text = TEXT.format("", "", "").replace("language you want", "1anguage y0u wamt")
    found = restored_text(STEPS, text, STEP_1, STEP_2, STEP_3)
    assert "1anguage y0u wamt.\n\n[[IMG:step-2.png]]\n\n## Finish" in found


@pytest.mark.parametrize(
    ("html", "markdown", "whole"),
    [
        ("<p>Click <img src='step-1.png'> to go on.</p>", "Click to go on.", "Click [[IMG:step-1.png]] to go on."),
        ("<p><img src='step-1.png'> opens the box.</p>", "opens the box.", "[[IMG:step-1.png]] opens the box."),
        ("<p>Click <b>Save</b> <img src='step-1.png'></p>", "Click **Save**", "Click **Save** [[IMG:step-1.png]]"),
        (
            "<ol><li>One two<p><img src='step-1.png'></p></li><li>Three four</li></ol>",
            "1. One two\n2. Three four",
            "1. One two [[IMG:step-1.png]]\n2. Three four",
        ),
        (
            "<table><tr><th>Icon</th><th>Name</th></tr><tr><td><img src='step-1.png'></td><td>Pen tool</td></tr>"
            "<tr><td><img src='step-2.png'></td><td>Ink tool</td></tr></table>",
            "| Icon | Name |\n|---|---|\n| | Pen tool |\n| | Ink tool |",
            "| Icon | Name |\n| --- | --- |\n| [[IMG:step-1.png]] | Pen tool |\n| [[IMG:step-2.png]] | Ink tool |",
        ),
        (
            "<p>One two.</p><p><img src='step-1.png'></p><p><img src='step-2.png'></p><p>Three.</p>",
            "One two.\n\nThree.",
            "One two.\n\n[[IMG:step-1.png]]\n\n[[IMG:step-2.png]]\n\nThree.",
        ),
        (
            "<p>One two.</p><p><img src='step-1.png'></p><p>Three.</p>",
            "One two. Three.",
            "One two. [[IMG:step-1.png]] Three.",
        ),
        ("<p>Click <img src='step-1.png'> now</p>", "Clicknow", "Click [[IMG:step-1.png]] now"),
    ],
)
def test_lost_markers_stand_as_in_the_page(html: str, markdown: str, whole: str) -> None:
    assert restored_text(html, markdown, STEP_1, STEP_2) == whole


def test_an_image_whose_text_is_lost_goes_to_the_end_of_its_section_and_is_counted() -> None:
    text = "# Set up\n\n[[IMG:step-1.png]]\n\nSomething else altogether.\n\n## Finish\n\nSave everything at the end."
    html = STEPS.replace(
        '<img src="step-1.png"></p>', '<img src="step-1.png"></p>' + "<p>Nobody kept this line here.</p>"
    )
    article = restored(html, text, STEP_1, STEP_2, STEP_3)
    assert "altogether.\n\n[[IMG:step-2.png]]\n\n## Finish" in article.markdown
    assert article.unplaced_images == 1
    assert "1 image without a place put at the end of the section: 'step-2.png'" in article.warnings


def test_an_image_shown_twice_is_shown_twice() -> None:
    html = "<p>First words.</p><p><img src='step-1.png'></p><p>Second part.</p><p><img src='step-1.png'></p>"
    for text in (
        "First words.\n\n[[IMG:step-1.png]]\n\nSecond part.",
        "First words.\n\nSecond part.\n\n[[IMG:step-1.png]]",
    ):
        assert (
            restored_text(html, text, STEP_1)
            == "First words.\n\n[[IMG:step-1.png]]\n\nSecond part.\n\n[[IMG:step-1.png]]"
        )


def test_a_marker_that_was_doubled_is_shown_once() -> None:
    html = "<p>Some words.</p><p><img src='step-1.png'></p>"
    assert restored_text(html, "[[IMG:step-1.png]]\n\nSome words.\n\n[[IMG:step-1.png]]", STEP_1) == (
        "Some words.\n\n[[IMG:step-1.png]]"
    )


def test_text_that_was_moved_keeps_its_image() -> None:
    first, second = WHOLE.split("## Finish")
    moved = f"## Finish{second}\n\n{first}"
    found = restored_text(STEPS, moved, STEP_1, STEP_2, STEP_3)
    assert "at the end.\n\n[[IMG:step-3.png]]" in found
    assert "your account.\n\n[[IMG:step-1.png]]" in found


@pytest.mark.parametrize("text", ["[[IMG:other.png]]", "[[IMG:]]", "following: step-1.png", "[[IMG:a b c d e f]]"])
def test_what_names_no_image_of_the_article_is_text(text: str) -> None:
    found = restored_text(f"<p>About {text} here.</p><p><img src='step-1.png'></p>", f"About {text} here.", STEP_1)
    assert [marker.file for marker in find_markers(found)] == ["step-1.png"]
    assert text in rendered(found).replace("<p>", " ")


def test_markers_that_the_service_put_at_the_end_stand_where_their_text_is() -> None:
    moved = TEXT.format("", "", "") + "\n\n[[IMG:step-1.png]]\n\n[[IMG:step-2.png]]\n\n[[IMG:step-3.png]]"
    assert restored_text(STEPS, moved, STEP_1, STEP_2, STEP_3) == WHOLE


def test_a_name_far_from_every_word_around_the_image_is_no_place() -> None:
    text = "Open the settings of your account.\n\nQuirky zebras jumped.\n\nSave everything at the end."
    article = restored(AMONG_LOST_WORDS, f"{text}\n\n[[IMG:step-1.png]]", STEP_1)
    assert [(lost.kind, lost.name) for lost in article.unplaced] == [("image", "step-1.png")]


@pytest.mark.parametrize(
    "written",
    [
        "<figure>\n\nstep-1.png\n\n</figure>",
        "<figure>step-1.png</figure>",
        "![](step-1.png)",
        "![a picture](images/step-1.png)",
        "![img-0.jpeg](img-0.jpeg)",
    ],
)
def test_a_figure_or_image_of_the_service_is_the_article_s_and_leaves_no_words(written: str) -> None:
    found = restored_text(
        STEPS, TEXT.format(written, "[[IMG:step-2.png]]", "[[IMG:step-3.png]]"), STEP_1, STEP_2, STEP_3
    )
    assert found == WHOLE


def test_an_image_of_the_service_that_the_article_does_not_show_is_gone() -> None:
    assert restored_text("<p>Some words.</p>", "Some ![logo](img-0.jpeg) words.") == "Some words."


def test_an_image_between_lost_paragraphs_stands_between_their_neighbours() -> None:
    article = restored(AMONG_LOST_WORDS, "Open the settings of your account.\n\nSave everything at the end.", STEP_1)
    whole = "Open the settings of your account.\n\n[[IMG:step-1.png]]\n\nSave everything at the end."
    assert article.markdown.strip() == whole
    assert article.unplaced == ()


def test_an_article_about_markers_keeps_its_words() -> None:
    html = "<p>Write [[IMG:step-1.png]] like this.</p><p><img src='step-1.png'></p>"
    local = convert(html, STEP_1).markdown
    assert restored(html, "Write [[IMG:step-1.png]] like this.\n\n[[IMG:step-1.png]]", STEP_1).markdown == local


def test_a_file_of_any_name_comes_back() -> None:
    odd = image("Bild [1] (100%) über.png")
    html = "<p>Some words.</p><p><img src='Bild [1] (100%25) über.png'></p>"
    assert (
        restored_text(html, "Some words.\n\n[[IMG:1-Bild-1-100-uber.png]]", odd) == convert(html, odd).markdown.strip()
    )


@pytest.mark.slow("builds a whole knowledge base")
@settings(deadline=None)  # the time it takes is that of the machine
@given(st.text(alphabet="[]IMG:step-123.png \n`*|()", max_size=80))
def test_no_writing_makes_more_or_fewer_markers_than_the_article_has(noise: str) -> None:
    markdown = restored(STEPS, TEXT.format(noise, "", noise), STEP_1, STEP_2, STEP_3).markdown
    assert sorted(marker.file for marker in find_markers(markdown)) == ["step-1.png", "step-2.png", "step-3.png"]
