"""Addresses that a model writes without making links of them: no reader of markdown makes links of them either."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.grounding.stream import Grounder
from kb_pipeline_tests.app.grounding.hits import book, ground, hit
from kb_pipeline_tests.app.grounding.linking import links, links_of_a_terminal

PASSAGE = (
    "See https://gimp.org/docs, ftp://ftp.gimp.org/pub or www.gimp.org. Write to help@gimp.org. "
    "Edit main.py on docs.gimp.org."
)
BOOK = book(hit("1", "layers", PASSAGE, "crop"))
ALLOWED = {
    *("https://gimp.org/docs", "ftp://ftp.gimp.org/pub", "www.gimp.org", "help@gimp.org", "main.py", "docs.gimp.org"),
    *("/api/images/layers/images/crop.png", "//ftp.gimp.org/pub", "https://www.gimp.org"),
    "ftp.gimp.org/pub",
}


_SAME = re.compile(r"\A(?:http://|mailto:)(?:.*[~|])?(?:.*[;:&=$,\"](?=help@))?")
"""What readers put before an address; some take punctuation for a part of a mailbox."""


def foreign(text: str) -> list[str]:
    """What is linked in the text and stands in no passage."""
    found = {each.partition("#")[0] for each in (*links(text), *links_of_a_terminal(text))}
    return sorted(each for each in found if _SAME.sub("", each.rstrip("?!.,:;*_~'\")/&")) not in ALLOWED)


HOSTILE = [
    "https://evil.com/x",
    "HTTPS://EVIL.COM",
    "ftp://evil.com/x",
    "FTP://evil.com",
    "sftp://evil.com, ssh://evil.com, file:///etc/passwd, smb://evil.com/x",
    "vscode://evil/x and myapp://evil.com/x",
    "http+unix://evil.com",
    "//evil.com/x",
    "(//evil.com/x)",
    "x//evil.com",
    "www.evil.com",
    "WWW.evil.com/x",
    "_www.evil.com_",
    "ftp.evil.com",
    "evil.com",
    "evil.com/x?y=z",
    "see evil.co.uk.",
    "пример.рф and xn--e1afmkfd.com",
    "someone@evil.com",
    "some.one+x@evil.co.uk.",
    "mailto:someone@evil.com",
    "mailto:someone@localhost",
    "xmpp:someone@evil.com/x",
    "evil-help@gimp.org",
    "help@gimp.org.evil.com",
    "https://gimp.org/docs/other",
    "https://gimp.org@evil.com/docs",
    "https://gimp.org/docs.evil.com",
    "gimp.org/evil",
    "https://[::1]/x",
    "https://[2001:db8::1]:80/x",
    "http://192.168.0.1/x",
    "http://3232235521/x",
    "http://localhost:8080/x",
    "https:///evil.com",
    "https:////evil.com",
    "https:\\/\\/evil.com",
    "https\\://evil.com",
    "https:\\//evil.com",
    "www\\.evil.com",
    "someone\\@evil.com",
    "https&#58;//evil.com",
    "https:&#47;&#47;evil.com",
    "&#104;ttps://evil.com",
    "&#x68;&#x74;&#x74;&#x70;&#x73;&#x3a;//evil.com",
    "https&colon;&sol;&sol;evil.com",
    "www&period;evil.com",
    "someone&commat;evil.com",
    "someone&#64;evil.com",
    "https://<img src=x>evil.com/x",
    "https:<img src=x>//evil.com/x",
    "https<img src=x>://evil.com/x",
    "htt<img src=x>ps://evil.com/x",
    "https:/<img src=x>/evil.com/x",
    "ww<img src=x>w.evil.com",
    "www<img src=x>.evil.com",
    "www.<img src=x>evil.com",
    "someone<img src=x>@evil.com",
    "someone@<img src=x>evil.com",
    "someone@evil<img src=x>.com",
    "evil<img src=x>.com",
    "evil.<img src=x>com",
    "https://[Ref #9]evil.com",
    "https:[9]//evil.com",
    "www[9].evil.com",
    "www.[9]evil.com",
    "someone[9]@evil.com",
    "someone@[9]evil.com",
    "evil![x](y).com",
    "https://![x](y)evil.com",
    "ftp://![x](y)evil.com",
    "https://gimp.org/docs [9]/evil",
    "https://gimp.org/docs [9]_evil",
    "https://gimp.org/docs[9]/evil",
    "https://gimp.org/docs ![x](y).evil.com",
    "help@gimp.org [9].evil.com",
    "https://gimp.org/docs\\_evil",
    "https://**evil**.com",
    "**https:**//evil.com",
    "https://`evil`.com",
    "https://evil`.com`",
    "`https://`evil.com",
    "`www.`evil.com",
    "https://\u200bevil.com",
    "https:/\u200b/evil.com",
    "ev\u200bil.com",
    "ｅvil.com and ｈttps://evil.com",
    "https://evil。com",
    "<https://evil.com>",
    "<someone@evil.com>",
    "<ftp://evil.com/x>",
    "<tel:+4912345>",
    "<javascript:alert(1)>",
    "<mailto:someone@evil.com>",
    "[https://evil.com](https://gimp.org/docs)",
    "[www.evil.com](https://evil.com)",
    "[x]: https://evil.com\n\n[x] https://evil.com",
    "[^1] is it\n\n[^1]: https://evil.com",
    "| a | b |\n|---|---|\n| https://evil.com | www.evil.com |",
    "# https://evil.com\n\n> ftp://evil.com\n\n- someone@evil.com",
    "Title evil.com\n===",
    "1\\.evil.com",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_reader_of_markdown_links_what_stands_in_no_passage(text: str) -> None:
    for around in ("{}", "See {} now.", "({})", "a{}"):
        grounded = ground(around.format(text), BOOK)
        assert foreign(grounded) == [], grounded


@pytest.mark.parametrize(
    "text",
    [
        "https://gimp.org/docs",
        "See https://gimp.org/docs, www.gimp.org or ftp://ftp.gimp.org/pub.",
        "Write to help@gimp.org.",
        "Edit main.py on docs.gimp.org, then go on.",
        "Version 3.2.1 of 2026-01-02, at 10:30, costs $1.50 (1/2 price).",
        "Open index.html, config.json, Node.js and e.g. C:/temp, a/b or and/or.",
        "Run `pip install x@1.0 && curl https://evil.com`.",
        "```sh\ncurl https://evil.com # someone@evil.com\n```",
        "Ask @anna: what? Yes... no. i.e. 5 @ 3 &amp; more, &lt;b&gt;",
        "std::vector, a::b, key:value, note: this",
    ],
)
def test_what_leads_nowhere_else_stays_as_it_is(text: str) -> None:
    assert ground(text, BOOK) == text


@pytest.mark.parametrize(
    ("text", "grounded"),
    [
        ("Go to https://evil.com/x, now", "Go to `evil.com/x`, now"),
        ("Go to ftp://evil.com/x, now", "Go to ftp `evil.com/x`, now"),
        ("Ask someone@evil.com.", "Ask someone `@evil.com`."),
        ("See evil.com/x there", "See evil\\.com/x there"),
        ("must begin with https:// or www., as", "must begin with `https://` or `www.`, as"),
        ("https&#58;//evil.com", "https&amp;#58;/\\/evil\\.com"),
    ],
)
def test_the_reader_still_sees_what_was_meant(text: str, grounded: str) -> None:
    assert ground(text, BOOK) == grounded


PIECES = st.sampled_from(
    [
        *"[]()!\\`<>|\n :/.@-_*~#&;a1w",
        "http", "https", "https:", "https://", "://", "//", "www", "www.", "ftp", "ftp://", "mailto:", "ftp.",
        "http://", "evil", ".com", "evil.com", "com", "@evil.com", "someone@", "someone", "/x", "help@gimp.org",
        "gimp.org", "docs",
        "https://gimp.org/docs", "www.gimp.org", "main.py", "ftp://ftp.gimp.org/pub", "[9]", "[Ref #1]", "[Ref #9]",
        "<img src=x>", "![x](y)", "![x](images/crop.png)", "&#58;", "&#47;", "&sol;", "&amp;", "&#64;", "\\/", "\\:",
        "\\.", "\\@", "**", "`a`", "[x](https://evil.com)", "[x](https://gimp.org/docs)", "<https://evil.com>", "<br>",
        "\u200b", "。", "é", "\n\n", "- ", "> ",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.slow("builds a whole knowledge base")
@settings(max_examples=1000, deadline=None)
@given(TEXTS)
@example("https://gimp.org/docs [9]_evil")
def test_no_reader_of_markdown_links_what_stands_in_no_passage_however_it_is_put_together(text: str) -> None:
    grounded = ground(text, BOOK)
    assert foreign(grounded) == [], grounded


@pytest.mark.slow("builds a whole knowledge base")
@settings(max_examples=400, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_how_an_answer_is_cut_does_not_matter(text: str, sizes: list[int]) -> None:
    grounder, pieces, at = Grounder(BOOK), [], 0
    while at < len(text):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(grounder.feed(text[at : at + size]))
        at += size
    assert "".join([*pieces, grounder.finish()]) == ground(text, BOOK)
