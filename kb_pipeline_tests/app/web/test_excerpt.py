"""What of a long page an answer is given."""

from app.web.excerpt import CUT, excerpt

PAGE = "\n\n".join(
    [
        "# Collector",
        "It receives events. " * 20,
        "## Create a token",
        "Open Settings and select New Token. " * 20,
        "## Status codes",
        "| Code | Meaning |\n| --- | --- |\n| 9 | busy |",
        "```\n# no heading\n\ncurl -X POST\n```",
        "## See also",
        "Other pages. " * 20,
    ]
)


def test_a_page_that_fits_is_given_whole() -> None:
    assert excerpt("# A\n\nText.", "anything", 100) == "# A\n\nText."


def test_the_section_that_shares_the_words_is_given_with_its_heading_and_marks() -> None:
    part = excerpt(PAGE, "What do the status codes mean?", 200)
    assert part.startswith(f"{CUT}\n\n## Status codes\n\n| Code | Meaning |")
    assert "```\n# no heading\n\ncurl -X POST\n```" in part
    assert part.endswith(CUT)
    assert len(part) <= 200


def test_sections_stay_in_the_order_of_the_page() -> None:
    part = excerpt(PAGE, "status codes of a new token", 1000)
    assert part.index("## Create a token") < part.index("## Status codes")
    assert len(part) <= 1000


def test_a_block_is_cut_only_where_nothing_else_is_left() -> None:
    part = excerpt("```\n" + "word " * 1000 + "\n```", "word", 100)
    assert part.startswith("word word")
    assert part.endswith(CUT)
    assert len(part) <= 100
