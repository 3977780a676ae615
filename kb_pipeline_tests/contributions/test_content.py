"""The text of a contribution stays inside its section, whatever it holds."""

from collections.abc import MutableMapping
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb_pipeline.contributions.content import MOST_BYTES, below, escaped_lines, harmless, read_content
from kb_pipeline.errors import ContributionError
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.markdown_parsers import authored_parser


def test_markdown_is_kept_as_it_is() -> None:
    text = "Use **retries**.\n\n- one `<b>`\n- [two](https://example.com)\n\n```html\n<script>alert(1)</script>\n```"
    assert harmless("a", text) == text


@pytest.mark.parametrize(
    ("hostile", "kept"),
    [
        ("Run <script>alert(1)</script> now", "Run &lt;script>alert(1)&lt;/script> now"),
        ("<div>\n\n# Deep\n\n</div>", "&lt;div>\n\n# Deep\n\n&lt;/div>"),
        ("<!-- hidden\n\ntext", "&lt;!-- hidden\n\ntext"),
        ("`<b>` and <b>", "`<b>` and &lt;b>"),
        ("> quoted <img src=x onerror=y>", "> quoted &lt;img src=x onerror=y>"),
        ("| a | b |\n|---|---|\n| `<i>` | <i>x</i> |", "| a | b |\n|---|---|\n| `<i>` | &lt;i>x&lt;/i> |"),
        ("<https://example.com> <b>", "<https://example.com> &lt;b>"),
        ("---\ntitle: Mine\n---\nText", "Text"),
        ("---\n---\nText", "Text"),
        ("Text\n\n```\nopen", "Text\n\n```\nopen\n```"),
        ("Text\r\n\r\n~~~~\r\nopen", "Text\n\n~~~~\nopen\n~~~~"),
        ("See (contribution 20260101-00000000).", "See (contribution no. 20260101-00000000)."),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_what_would_act_beyond_it_becomes_text(hostile: str, kept: str) -> None:
    assert harmless("a", hostile) == kept
    assert not [token for token in authored_parser().parse(kept) if token.type == "html_block"]


@pytest.mark.parametrize(
    ("hostile", "problem"),
    [
        ("", "empty"),
        ("---\ntitle: x\n---\n", "empty"),
        ("---\naccess_control_list: [hr]\n---\nText", "access_control_list"),
        ("---\na: [\n---\nText", "not valid YAML"),
        ("[login]: https://evil.example\n\nSee [login].", r"defines the link \[login\]"),
        ("See ![the menu](menu.png)", r"shows the image 'menu.png'"),
        ("x" * (MOST_BYTES + 1), "262,144 bytes"),
        ("%PDF-1.7 text", "under another name"),
        ("<!--\n\n[login]: https://evil.example\n\n-->", r"defines the link \[login\]"),
        ("<?\n\n[login]: https://evil.example\n\nSee [login].", r"defines the link \[login\]"),
        ("<!--\n\n![the menu](menu.png)", r"shows the image 'menu.png'"),
        ("|a|b|\n|-|-|\n" + "|x|y|\n" * 30_000, r"120,0\d\d line ends and marks .* at most 10,000"),
        ("[" * 100_000, "line ends and marks"),
        ("\n\n" * 50_000 + "x", "line ends and marks"),
    ],
)
def test_what_cannot_be_kept_is_refused(hostile: str, problem: str) -> None:
    with pytest.raises(ContributionError, match=problem):
        harmless("a", hostile)


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = MarkdownIt.parse

    def counting(self: MarkdownIt, src: str, env: MutableMapping[str, Any] | None = None) -> list[Token]:
        parsed.append(src)
        return parse(self, src, env)

    monkeypatch.setattr(MarkdownIt, "parse", counting)
    harmless("a", "---\ntitle: Limits\n---\n# Limits\n\n| plan | requests |\n|---|---|\n| small | `<b>` 10 |")
    assert len(parsed) == 1


@pytest.mark.parametrize(
    "nested",
    [
        "<" * 2_000 + "b>",
        "<a title='`'>`<b>`" * 50,
        "> " * 60 + "<p>",
        "*" * 5_000 + "<b>",
        "<![CDATA[" + "<?php " * 100,
    ],
)
def test_nothing_that_is_nested_leaves_raw_html(nested: str) -> None:
    tokens = authored_parser().parse(harmless("a", nested))
    assert not {"html_block", "html_inline"} & {
        each.type for token in tokens for each in (token, *(token.children or ()))
    }


def test_a_file_is_markdown_or_text_in_utf_8() -> None:
    assert read_content("pitfall.MD", "\ufeffGrüße *x*".encode()) == "Grüße *x*"
    for name, data, problem in (
        ("notes.docx", b"x", "neither Markdown"),
        ("notes.md", "Text".encode("utf-16"), "not UTF-8"),
        ("notes.md", "Te".encode("utf-16-le") + b"\x00x", "binary, or UTF-16"),
        ("notes.md", b"x" * (10 << 20), "10,485,760 bytes"),
    ):
        with pytest.raises(ContributionError, match=problem):
            read_content(name, data)


def test_plain_text_reads_like_it() -> None:
    text = "# not a heading\n* no <list>\n1. no number\n\n\n    no code\nC:\\dir & [x]"
    html = convert_html("a", f"<body>{authored_parser().render(escaped_lines(text))}</body>".encode(), {}).markdown
    words = [line.strip() for line in text.split("\n") if line.strip()]
    for line in words:
        assert line in html.replace("\\", "").replace("C:dir", "C:\\dir").replace("&lt;", "<").replace("&amp;", "&")
    assert "\n#" not in html
    assert "```" not in html


@pytest.mark.parametrize(
    ("text", "level", "lowered"),
    [
        ("no heading", 2, "no heading"),
        ("# One\n\n## Two", 2, "### One\n\n#### Two"),
        ("Title\n=====\n\ntext\nSub\n---", 3, "#### Title\n\n##### text Sub"),
        ("### Deep enough", 2, "### Deep enough"),
        ("> # Quoted", 2, "> ### Quoted"),
        ("- # Listed", 2, "- ### Listed"),
        ("```\n# code\n```", 2, "```\n# code\n```"),
        ("# One\ntext", 6, "\n**One**\n\ntext"),
    ],
)
def test_headings_stand_below_the_section(text: str, level: int, lowered: str) -> None:
    assert below(text, level, authored_parser().parse(text)) == lowered
