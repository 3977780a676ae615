import pytest

from kb_pipeline.steps.merge_images import continuation, prefix_of


@pytest.mark.parametrize(
    ("line", "prefix", "next_prefix"),
    [
        ("text", "", ""),
        ("- item", "- ", "  "),
        ("12. item", "12. ", "    "),
        ("> quote", "> ", "> "),
        ("  - > 1. deep", "  - > 1. ", "    >    "),
        ("-not an item", "", ""),
        ("**bold**", "", ""),
        ("1999 was a year", "", ""),
    ],
)
def test_a_line_continues_in_the_same_quotes_and_items(line: str, prefix: str, next_prefix: str) -> None:
    assert prefix_of(line) == prefix
    assert continuation(prefix) == next_prefix
