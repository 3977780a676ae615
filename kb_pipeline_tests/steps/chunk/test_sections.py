"""One chunk per H1-H3 section, levels relative to the page."""

import pytest

from kb_pipeline_tests.steps.chunk.articles import chunk


def headings(*levels: int) -> str:
    return "\n\n".join(f"{'#' * level} H{n}\n\ntext {n}" for n, level in enumerate(levels))


def paths(markdown: str, min_tokens: int = 0) -> list[tuple[str, ...]]:
    return [c.heading_path for c in chunk(markdown, min_tokens=min_tokens)]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((1, 2, 3), [("H0",), ("H0", "H1"), ("H0", "H1", "H2")]),
        ((3, 5, 5, 6), [("H0",), ("H0", "H1"), ("H0", "H2"), ("H0", "H2", "H3")]),
        ((3, 2), [("H0",), ("H1",)]),
        ((2, 4, 2, 3), [("H0",), ("H0", "H1"), ("H2",), ("H2", "H3")]),
    ],
)
def test_levels_count_from_the_topmost_heading_and_close_up(
    levels: tuple[int, ...], expected: list[tuple[str, ...]]
) -> None:
    assert paths(headings(*levels)) == expected


def test_a_fourth_level_stays_inside_its_section() -> None:
    last = chunk(headings(1, 2, 3, 4, 5, 4))[-1]
    assert last.heading_path == ("H0", "H1", "H2")
    assert last.content.endswith("#### H5\n\ntext 5")


def test_the_content_keeps_the_heading_as_the_author_wrote_it() -> None:
    assert chunk(headings(3, 5))[1].content == "##### H1\n\ntext 1"


def test_the_preamble_is_named_by_the_title() -> None:
    first, second = chunk("Before.\n\n# One\n\nAfter.", title="Guide")
    assert (first.section_header, first.heading_path) == ("Guide", ())
    assert (second.section_header, second.heading_path) == ("One", ("One",))


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("# The **bold** `code` and [a link](x.html)\n\nt", "The bold code and a link"),
        (r"# A \# and \<file> &amp; more" + "\n\nt", "A # and <file> & more"),
        ("Two\nlines\n===\n\nt", "Two lines"),
        ("# Save [Image: icon](images/icon.png) now\n\nt", "Save now"),
        ("#\tTabbed   #\n\nt", "Tabbed"),
    ],
)
def test_titles_are_plain_text(markdown: str, title: str) -> None:
    assert [c.section_header for c in chunk(markdown)] == [title]


@pytest.mark.parametrize(
    "inside",
    ["```sh\n# comment\n```", "    # indented code", "> # quoted", "- # in a list", "<div>\n# html\n</div>", "#"],
)
def test_what_only_looks_like_a_heading_makes_no_section(inside: str) -> None:
    assert len(chunk(f"# One\n\ntext\n\n{inside}\n\nmore")) == 1


def test_an_article_without_text_has_no_chunks() -> None:
    assert chunk(" \n\n\t\n") == []


class TestSmallSections:
    def test_join_their_parent(self) -> None:
        assert paths(headings(1, 2, 2), min_tokens=9) == [("H0",)]

    def test_keep_their_heading_in_the_text(self) -> None:
        assert chunk(headings(1, 2), min_tokens=9)[0].content == "# H0\n\ntext 0\n\n## H1\n\ntext 1"

    def test_join_the_sibling_before_them(self) -> None:
        assert paths("# A\n\n" + "long " * 9 + "\n\n# B\n\nshort", min_tokens=9) == [("A",)]

    def test_never_join_a_neighbour_of_another_parent(self) -> None:
        assert paths("# A\n\n" + "a " * 9 + "\n\n## B\n\n" + "b " * 9 + "\n\n# C\n\nshort", min_tokens=9)[-1] == ("C",)

    def test_stay_alone_where_joining_would_be_too_long(self) -> None:
        chunks = chunk("# A\n\n" + "a " * 18 + "\n\n## B\n\nb", title="A", max_tokens=20, min_tokens=9)
        assert [c.heading_path for c in chunks] == [("A",), ("A", "B")]

    def test_a_heading_that_opens_the_next_section_does_not_end_the_one_before(self) -> None:
        before, after = chunk("# A\n\n" + "a " * 9 + "\n\n# B\n\n## C\n\n" + "c " * 9, min_tokens=5)
        assert "B" not in before.content
        assert after.content.startswith("# B\n\n## C")

    def test_a_last_heading_without_text_joins_the_section_before_it(self) -> None:
        assert paths("# A\n\n" + "a " * 9 + "\n\n# B\n", min_tokens=5) == [("A",)]

    def test_a_heading_without_text_opens_the_first_section_below_it(self) -> None:
        (only,) = chunk("# A\n\n## B\n\n" + "b " * 9, min_tokens=5)
        assert only.heading_path == ("A", "B")
        assert only.content.startswith("# A\n\n## B")
