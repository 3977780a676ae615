import pytest

from app.grounding.sources import AllowedLinks, trimmed
from kb_pipeline_tests.app.grounding.passages import citation

LINKS = AllowedLinks(
    [
        citation('See [GIMP](https://GIMP.org/docs/ "docs"), (https://a.example/x_(y)) and www.b.example/z.'),
        citation(r"Under <https://c.example/?a=1&amp;b=2> or https://d.example/a\_b; write to Help@e.example."),
        citation("").model_copy(update={"source_url": "https://f.example/page"}),
    ]
)


@pytest.mark.parametrize(
    "target",
    [
        "https://gimp.org/docs",
        "https://gimp.org/docs/",
        "HTTPS://gimp.org/docs#install",
        "https://a.example/x_(y)",
        "www.b.example/z",
        "https://www.b.example/z",
        "https://c.example/?a=1&b=2",
        "https://d.example/a_b",
        "mailto:help@e.example",
        "https://f.example/page",
    ],
)
def test_an_address_of_a_passage_may_be_followed(target: str) -> None:
    assert LINKS.allows(target)


@pytest.mark.parametrize(
    "target",
    [
        "https://gimp.org",
        "https://gimp.org/doc",
        "https://gimp.org/docs/more",
        "https://gimp.org/docs?to=evil",
        "http://gimp.org/docs",
        "https://gimp.org.evil.example/docs",
        "https://gimp.org/docs@evil.example",
        "https://gimp.org\\.evil.example/docs",
        "//gimp.org/docs",
        "mailto:other@e.example",
        "mailto:help@e.example?bcc=other@e.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "../other/index.html",
        "#top",
        "",
    ],
)
def test_another_address_may_not(target: str) -> None:
    assert not LINKS.allows(target)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://a.example/.", "https://a.example/"),
        ("https://a.example/x)", "https://a.example/x"),
        ("https://a.example/x_(y)).", "https://a.example/x_(y)"),
        ("https://a.example**,", "https://a.example"),
    ],
)
def test_an_address_ends_before_the_punctuation_of_its_sentence(text: str, address: str) -> None:
    assert trimmed(text) == address
