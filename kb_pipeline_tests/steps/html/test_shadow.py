import pytest

from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import markdown

TEMPLATE = "<template shadowrootmode=open>{}</template>"


@pytest.mark.parametrize(
    ("component", "shown"),
    [
        (TEMPLATE.format("<p>Hold the key.</p>"), "Hold the key."),
        (TEMPLATE.format("<p>First</p><slot></slot><p>Last</p>") + "<p>Between</p>", "First\n\nBetween\n\nLast"),
        (
            TEMPLATE.format("<slot name=b></slot><slot name=a>Default</slot><slot name=c>Else</slot>")
            + "<p slot=a>One</p><p slot=b>Two</p>",
            "Two\n\nOne\n\nElse",
        ),
        (TEMPLATE.format("<p>Seen</p>") + "<p>UNSEEN</p>", "Seen"),
        (TEMPLATE.format("<b><slot></slot></b>") + "<p slot=none>UNSEEN</p>Words", "Words"),
        ("<template><p>UNSEEN</p></template><p>Seen</p>", "Seen"),
        (TEMPLATE.format("<x-y>" + TEMPLATE.format("<b><slot></slot></b>") + "<i>In</i></x-y>"), "***In***"),
    ],
)
def test_a_component_shows_its_template_with_what_fills_its_slots(component: str, shown: str) -> None:
    assert markdown(f"<main><p>Words</p><my-page>{component}</my-page></main>") == f"Words\n\n{shown}"


def test_the_time_grows_with_the_component_only() -> None:
    slots, given = "<slot name=a></slot>", "<i slot=b>x</i>"
    box = "<x-y><template shadowrootmode=open>{}</template>{}</x-y><p>Hello."
    assert grows_in_proportion(lambda count: markdown(box.format(slots * count, given * count)), 3_200)
