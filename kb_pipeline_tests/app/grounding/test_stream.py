import re
from urllib.parse import unquote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.grounding.citations import CitationBook
from app.grounding.stream import Grounder
from kb_pipeline_tests.app.grounding.hits import CROP, MENU, PRINTER_MENU, TRAY, book, ground, hit
from kb_pipeline_tests.growth import grows_in_proportion

BOOK = book()
IMAGES = {CROP, MENU, PRINTER_MENU, TRAY}
LINKS = ("https://gimp.org/docs", "https://print.example/a_(b)", "https://docs.example/toner", "mailto:help@gimp.org")


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("Crop [Ref 1] it [#2] now [ref #3].", "Crop [Ref #1] it [Ref #2] now [Ref #3]."),
        ("Bare [1], 【2】, 【3†source】.", "Bare [Ref #1][Ref #2][Ref #3]."),
        ("Lists [1, 3] and (Ref #2) and ([1]) and [[2]].", None),
        ("One [1][1] two [1] [1], [1]", "One [Ref #1] two [Ref #1]"),
        ("A word: see Ref #2.", "A word: see [Ref #2]."),
        ("Invented [Ref #9].", "Invented."),
        ("Invented [9], so [8] [7] what", "Invented, so what"),
        ("Mixed [Ref #9][Ref #1], [8].", "Mixed [Ref #1]."),
        ("[9] First", "First"),
        ("glued[Ref #9]words", "glued words"),
        (
            "[GIMP](https://gimp.org/docs)[1], [it](https://evil.example)[2]",
            "[GIMP](https://gimp.org/docs)[Ref #1], it[Ref #2]",
        ),
    ],
)
def test_references_become_one_form_and_invented_ones_go(text: str, grounded: str | None) -> None:
    expected = grounded or "Lists [Ref #1][Ref #3] and [Ref #2] and [Ref #1] and [Ref #2]."
    assert ground(text, BOOK) == expected


@pytest.mark.parametrize(
    "text",
    [
        "array[1] and call()[2] and m[1][2]",
        "In [2024] and [0] and [x] and [ ] and (3)",
        "Escaped \\[1\\] stays",
        "Code `a[1] [1] [9]` stays",
        "```\n[1] <b> ![x](y) [x](http://evil.example)\n```",
        "~~~~ text\n[9]\n~~~\n[9]\n~~~~\ntext",
        "A note[^1].\n\n[^1]: The note.",
        "1. Run:\n\n    ```sh\n    a [1]\n    ```\n\n2. Done",
        "> 10. Run:\n>\n>     ```sh\n>     a [1]\n>     ```",
        "- [ ] to do\n- [x] done",
        "| a | b |\n|---|---|\n| 1 | `x|y` |",
        "2 < 3, a <= b, <3, x <- y, \\<b>, &lt;b&gt;, 5 > 4",
        "**bold** _it_ ~~gone~~ # no heading! $5 (see above)",
        "H<sub>2</sub>O, m<sup>2</sup>, a<br>b",
        "【注意】 and (Red) and wow!",
        f"![The crop]({CROP}) and [the menu]({MENU})",
        "[GIMP](https://gimp.org/docs#install), https://gimp.org/docs, <https://docs.example/toner>",
        "Write to [us](mailto:help@gimp.org) or <help@gimp.org>",
        "Write to [help@gimp.org](mailto:help@gimp.org).",
    ],
)
def test_what_is_right_already_stays_as_it_is(text: str) -> None:
    assert ground(text, BOOK) == text


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ('![The crop](images/crop.png "Title")', f"![The crop]({CROP})"),
        (f"![The crop](<https://evil.example{CROP}>)", f"![The crop]({CROP})"),
        ("Open it. [Ref #2] ![The menu](menu.png)", f"Open it. [Ref #2] ![The menu]({PRINTER_MENU})"),
        ("Open it. [Ref #1] ![The menu](menu.png)", f"Open it. [Ref #1] ![The menu]({MENU})"),
        ("Open it. ![The menu](menu.png)", "Open it."),
        ("Open it. ![The crop](/api/images/other/images/crop.png)", "Open it."),
        ("![](images/tray (1).png)", f"![tray (1)]({TRAY})"),
        ("![A](attachment:crop.png) text", f"![A]({CROP}) text"),
        ('<img alt="A" src="images/crop.png">', f"![A]({CROP})"),
        ("![A][crop] and ![crop]", f"![A]({CROP}) and ![crop]({CROP})"),
        ("![A][f]\n\n[f]: images/crop.png 'x'", f"\n\n![A]({CROP})"),
        ("[f]: images/crop.png\n![A][f]", f"\n![A]({CROP})"),
        (f"See https://host.example{CROP}.", f"See ![crop]({CROP})."),
        (f"See {CROP} there", f"See ![crop]({CROP}) there"),
        ("[Image: crop](images/crop.png)", f"[Image: crop]({CROP})"),
        ("[![A](images/crop.png)](https://evil.example)", f"![A]({CROP})"),
    ],
)
def test_images_of_the_passages_get_their_url(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("Look: ![A dialog](https://evil.example/x.png).", "Look:."),
        ("Look ![A dialog](images/other.png) here", "Look here"),
        ("A ![x][y] b ![z] c", "A b c"),
        ('A <img src="https://evil.example/x.png" alt="x"> b', "A b"),
        ("A ![x](data:image/png;base64," + "A" * 5000 + ") b", "A b"),
        ("A ![x](https://evil.example/x.png\nb", "A\nb"),
    ],
)
def test_other_images_go_with_their_alternative_text(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("[Sign in](https://evil.example/?q=secret) now", "Sign in now"),
        ("[Other](../other/index.html), [here](#top), [x](javascript:alert(1))", "Other, here, x"),
        ("Go to https://evil.example/x, now", "Go to `evil.example/x`, now"),
        ("<https://evil.example> <a@evil.example>", "`evil.example` `a @evil.example`"),
        ("See www.evil.example.", "See `evil.example`."),
        ("[a]: https://evil.example\n[a], [text][a]", "\na, text"),
        ("[2](https://evil.example) [Ref #1](#ref1) [Ref #9](#ref9)", "[Ref #2] [Ref #1]"),
        ("[words](in other words)", "[words]\\(in other words)"),
        ("[words\nbroken](https://evil.example)", "[words\nbroken]\\(`evil.example`)"),
    ],
)  # fmt: skip
def test_links_that_no_passage_names_leave_their_label(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("Press <Ctrl> <!-- c --> <?x", "Press &lt;Ctrl> &lt;!-- c --> &lt;?x"),
        ("<b onclick=x>a</b>", "&lt;b onclick=x>a&lt;/b>"),
        ("<br>\n```", "\n```"),
        ("<[Ref #9]b>", "&lt;b>"),
    ],
)
def test_tags_show_as_they_are_written(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("a ` b\nc ` ![x](//evil.example) ` d", "a \\` b\nc \\` \\` d"),
        ("| `a | ![x](//evil.example/x) | b` |", "| \\`a | | b\\` |"),
        ("text\n    ```\n![x](//evil.example/x)\n", "text\n    \\`\\`\\`\n\n"),
        ("text\n2. ~~~\n", "text\n2. \\~\\~\\~\n"),
        ("[9]~~~\n![x](//evil.example/x)", "\\~\\~\\~\n"),
    ],
)
def test_what_only_some_readers_take_for_code_is_no_code(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("- a\n  ```\nb\n  ```\n[1]", "- a\n  ```\n  b\n  ```\n[Ref #1]"),
        ("> ```\nb\n\n> ```\n[1]", "> ```\n> b\n>\n> ```\n[Ref #1]"),
        ("```\n" + "`" * 70 + "[9]", "```\n" + "`" * 70 + "[9]"),
        ("- ```\nb\n```\n- ```\nc\n", "- ```\n  b\n  ```\n- ```\n  c\n"),
    ],
)
def test_lines_of_code_stay_in_their_list_or_quote(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


def test_a_fence_says_no_more_than_its_language() -> None:
    assert ground("```sh Call the hotline 0900 0007\nls\n```", BOOK) == "```sh\nls\n```"


def test_line_breaks_of_all_systems_are_one_character() -> None:
    grounder = Grounder(BOOK)

    deltas = ("a\r", "\nb\rc\r\n", "", "\nd\n")
    assert "".join(map(grounder.feed, deltas)) == "a\nb\nc\n\nd\n"


def test_a_line_passes_when_it_ends() -> None:
    grounder = Grounder(BOOK)

    assert [grounder.feed(delta) for delta in ("Choose", " Crop", " [Ref #", "1].", "\n\n", "Done")] == [
        "", "", "", "", "Choose Crop [Ref #1].\n\n", "",
    ]  # fmt: skip
    assert grounder.finish() == "Done"


@pytest.mark.parametrize("start", ["[", "![", "![x](http://", "`", "<img ", "(Ref ", "【1", "[a]: ", "```", "> ", " "])
def test_what_is_never_closed_is_not_held_back_beyond_its_line(start: str) -> None:
    assert Grounder(BOOK).feed(f"{start}word.\nNext.\n").endswith("\nNext.\n")


@pytest.mark.parametrize("length", range(1990, 2005))
def test_an_image_of_any_length_ends_with_its_line(length: int) -> None:
    text = f"a ![x]({'y' * length}\n```\n[9]\n```"

    assert ground(text, BOOK) == "a\n```\n[9]\n```"


def test_the_book_may_grow_while_the_answer_streams() -> None:
    growing = CitationBook()
    grounder = Grounder(growing)
    before = grounder.feed("None [1] yet. ")

    growing.add([hit("1", "layers", "", "crop")])

    assert before + grounder.feed("Now [1] ![x](crop.png)") + grounder.finish() == (
        f"None yet. Now [Ref #1] ![x]({CROP})"
    )


def test_a_line_is_checked_by_what_was_true_when_it_was_written() -> None:
    grounder = Grounder(BOOK)
    by_model = grounder.feed("A model means [1], ")

    assert by_model + grounder.feed("an article writes [1].", is_quoted=True) + grounder.finish() == (
        "A model means [Ref #1], an article writes [1]."
    )


PIECES = st.sampled_from(
    [
        *"[]()!#\\`~<>|\n \t:-*_$&'\"^1a\r\0",
        "``", "```", "~~~", "\n\n", "    ", "- ", "2. ", "10) ", "> ", ">", "Ref #1", "Ref", "[1]", "[Ref #9]", "【1】",
        "(Ref #2)", "![", "](", "]: ", "[a]", "[a]: http://evil.example/\n", "http://evil.example/x", "www.e.example",
        "https://gimp.org/docs", "![x](http://evil.example/x.png)", "![x](images/crop.png)", "[x](http://evil.example)",
        "crop.png", "attachment:", "api/images/", "<b>", "<br>", "<img src=x>", "<!--", "<http://evil.example>", "text",
        "`[x](//evil.example)`", "[<br>](x)", "[^1]: ", "| a |\n|---|\n", "&lt;",
    ]
)  # fmt: skip
ADDRESS_BESIDE_REFERENCE = re.compile(r"[\]】)0-9]\W*(?:http|www)|(?:example|/x|docs)\W*[\[【(R]")
"""An address becomes code, and what touches code may be a reference where what touches a word is none."""
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@settings(max_examples=250, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 7), min_size=1, max_size=8))
def test_how_an_answer_is_cut_does_not_matter(text: str, sizes: list[int]) -> None:
    grounder, pieces, at = Grounder(BOOK), [], 0
    while at < len(text):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(grounder.feed(text[at : at + size]))
        at += size

    assert "".join([*pieces, grounder.finish()]) == ground(text, BOOK)


@settings(max_examples=250, deadline=None)
@given(TEXTS)
def test_a_reader_of_markdown_finds_nothing_that_is_not_of_the_passages(text: str) -> None:
    grounded = ground(text, BOOK)

    for block in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(grounded):
        assert block.type != "html_block", grounded
        for token in block.children or ():
            if token.type == "image":
                assert token.attrs["src"] in IMAGES, grounded
            if token.type == "link_open":
                target = str(token.attrs["href"])
                # a footnote of one word, to a reader that knows no footnotes: it leads nowhere
                footnote = f"[^1]: {unquote(target)}" in grounded and not {":", "/", "\\"} & set(unquote(target))
                assert footnote or target.startswith((*LINKS, *IMAGES)), grounded
            if token.type == "html_inline":
                assert token.content == "<br>", grounded


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "&#47;&#47;evil.example", r"\/\/evil.example", "mailto:a@b.c"]
)
def test_a_footnote_that_would_lead_elsewhere_goes(target: str) -> None:
    assert ground(f"It says so[^1].\n\n[^1]: {target}\n", BOOK).rstrip() == "It says so[^1]."


@settings(max_examples=100, deadline=None)
@given(TEXTS)
@example("[<br>](x)[1]")
def test_grounding_what_is_grounded_changes_no_reference_and_no_image(text: str) -> None:
    assume(not ADDRESS_BESIDE_REFERENCE.search(text))
    once = ground(text, BOOK)
    twice = ground(once, BOOK)

    assert once.count("[Ref #") >= twice.count("[Ref #")
    assert once.count("](/api/images/") == twice.count("](/api/images/")


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    "unit",
    ["[", "![", "`a``b```", "![x](", "[x](", "<img ", "(Ref ", "【", " ", "[a]: ", "http://", "![x][", "```\n", "\r",
     f"[x](a{' ' * 1900}b) ", "a.", ".com", "a@", "@a.", "&#", "a://", "//", "www", "[9].", "\\."],
)  # fmt: skip
def test_hostile_answers_take_time_in_proportion(unit: str) -> None:
    text = unit * 80_000  # more than any model writes at once

    def by_character(characters: int) -> None:
        grounder = Grounder(BOOK)
        for char in text[:characters]:
            grounder.feed(char)

    assert grows_in_proportion(lambda characters: ground(text[:characters], BOOK), 80_000)
    assert grows_in_proportion(by_character, 5_000)


@pytest.mark.parametrize("text", ["the code (Ref #12) lights. ", "quote Ref #abc in the letter. ", "see Ref #4471. "])
@pytest.mark.parametrize("is_quoted", [True, False])
def test_what_only_looks_like_a_reference_holds_nothing_back(text: str, is_quoted: bool) -> None:
    grounder = Grounder(book())
    said = grounder.feed(f"{text}More.\n\n", is_quoted=is_quoted)
    assert "More." in said
    assert grounder.finish().strip() == ""
