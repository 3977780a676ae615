"""The addresses of sources and sections."""

import pytest

from app.page.places import article_link, parse_reference, reference


def test_a_reference_is_read_as_it_was_written() -> None:
    assert parse_reference(reference("caresp_1", 12)) == ("caresp_1", 12)


@pytest.mark.parametrize(
    "text", [None, "", "caresp_1", "caresp_1.", "caresp_1.x", "caresp_1.²", f"caresp_1.{'9' * 5000}"]
)
def test_what_is_no_reference_leads_nowhere(text: str | None) -> None:
    assert parse_reference(text) == ("", 0)


def test_an_article_is_linked_with_its_section_and_what_refers_to_it() -> None:
    assert article_link("layers") == "knowledge-base?article=layers"
    assert article_link("my layers", "my-1", "caresp_1.2") == (
        "knowledge-base?article=my+layers&section=my-1&source=caresp_1.2"
    )
