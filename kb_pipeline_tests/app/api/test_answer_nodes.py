"""An answer as names of elements and texts: what articles and models write becomes nothing else."""

import pytest

from app.api.answer_nodes import answer_nodes

IMAGE = "/api/images/layers/images/crop.png"


def nodes(markdown: str) -> list[object]:
    return list(answer_nodes(markdown, "api/widget/images/"))


def names(found: object) -> set[str]:
    """Names of all elements."""
    if not isinstance(found, list | tuple):
        return set()
    own = {found[0]} if found and isinstance(found[0], str) and len(found) > 1 and found[1] is None else set()
    return own.union(*map(names, found))


def test_references_become_elements_of_their_number_but_not_in_code() -> None:
    assert nodes("Crop *it*. [Ref #1] [Ref #12]") == [
        ["p", None, "Crop ", ["em", None, "it"], ". ", ["ref", 1], " ", ["ref", 12]]
    ]
    assert nodes("`[Ref #1]`") == [["p", None, ["code", None, "[Ref #1]"]]]
    assert nodes("**bold**[Ref #2]") == [["p", None, ["strong", None, "bold"], ["ref", 2]]]
    assert nodes("\\[Ref #1]") == [["p", None, "[", "Ref #1]"]] or "ref" not in str(nodes("\\[Ref #1]"))


def test_lists_quotations_tables_and_code_keep_their_shape() -> None:
    assert nodes("3. a\n4. b") == [["ol", 3, ["li", None, ["p", None, "a"]], ["li", None, ["p", None, "b"]]]]
    assert nodes("> q") == [["blockquote", None, ["p", None, "q"]]]
    assert nodes("```sh\nls <x>\n```") == [["pre", None, ["code", None, "ls <x>\n"]]]
    assert {"table", "thead", "tbody", "tr", "th", "td"} <= names(nodes("| a | b |\n|---|---|\n| 1 | 2 |"))
    assert nodes("# Head") == [["h3", None, "Head"]]


def test_pictures_of_articles_are_below_the_widgets_path_and_others_are_words() -> None:
    assert nodes(f"![the menu]({IMAGE})") == [
        ["p", None, ["img", "api/widget/images/layers/images/crop.png", "the menu"]]
    ]
    assert nodes("![a pixel](https://evil.example/p.png)") == [["p", None, "a pixel"]]


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>)",
        "[x](//evil.example)",
        "[x](/api/conversations)",
        "![x](javascript:alert(1))",
        '<a href="javascript:alert(1)">x</a>',
        "[x]: javascript:alert(1)\n\n[x]",
        "&lt;img src=x onerror=alert(1)&gt;",
        "\U00010102<b>1\U00010102",
    ],
)
def test_nothing_that_runs_or_leads_elsewhere_comes_out(hostile: str) -> None:
    found = nodes(f"{hostile}\n\n> {hostile}\n\n- **{hostile}**")
    allowed = {"p", "blockquote", "ul", "li", "strong", "em"}
    assert names(found) <= allowed
    assert not any(f"'{name}'," in str(found) for name in ("a", "img", "ref", "script"))


def test_a_link_leads_to_the_web_only() -> None:
    assert nodes("[manual](https://example.com/a?b=1&c=2)") == [
        ["p", None, ["a", "https://example.com/a?b=1&c=2", "manual"]]
    ]
    assert nodes("[mail](mailto:a@example.com)") == [["p", None, ["a", "mailto:a@example.com", "mail"]]]
