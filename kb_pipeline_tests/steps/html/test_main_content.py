"""Of a page of the open web its main content is kept, whole; pages of manuals are never judged."""

import pytest

from kb_pipeline.steps.html.content import find_content
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, image, markdown

DRESSED = '<meta property="og:type" content="article"><meta name="twitter:card" content="summary">'
SENTENCES = (
    "The ledger keeps every entry in the order in which it was written, and nobody can change one later.",
    "When a shop closes its day, the entries are added up and compared with what lies in the drawer.",
    "A difference of a few cents is common, because coins are rounded in some of the countries we serve.",
    "If the difference is larger, the manager counts again, and then asks who worked at the drawer that day.",
    "Most of the time the reason is a return that was paid out in cash and never entered into the ledger.",
)
STORY = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
RELATED = "".join(
    f'<div class="card related-post"><a href="/p{number}"><img src="t{number}.png"><h3>Ten ways to {word}</h3></a>'
    f'<span class="date">May {number}</span><a href="/tag/{word}">{word}</a></div>'
    for number, word in enumerate(("save money", "hire people", "pay taxes", "open a shop", "close a shop", "rest"), 1)
)
MENU = "".join(
    f'<li><a href="/{word}">{word.title()}</a></li>' for word in "products pricing blog careers login".split()
)


def site(content: str, head: str = DRESSED) -> str:
    """A page of a site that marks up nothing of its navigation as such."""
    return (
        f"<html><head><title>Closing the day - Shop Blog</title>{head}</head><body><div class='top-links'>"
        f"<ul>{MENU}</ul></div><div class='post'><h1>Closing the day</h1><div class='post-content'>"
        f"{content}</div></div>"
        f"<div class='related-posts'><h2>You may also like</h2>{RELATED}</div>"
        "<div class='newsletter-signup'><p>Subscribe and get our newest posts every week.</p></div></body></html>"
    )


def test_the_story_stays_and_what_surrounds_it_is_gone() -> None:
    text = markdown(site(STORY))
    assert text.startswith("# Closing the day")
    assert all(sentence in text for sentence in SENTENCES)
    assert not any(word in text for word in ("Ten ways", "Pricing", "Subscribe", "You may also like"))


def test_pictures_in_the_story_stay_and_those_of_other_stories_are_gone() -> None:
    first, rest = STORY[: STORY.index("</p>") + 4], STORY[STORY.index("</p>") + 4 :]
    page = site(f"{first}<figure><img src='drawer.png'></figure>{rest}")
    thumbs = [image(f"t{number}.png") for number in range(1, 7)]
    article = convert(page, image("drawer.png"), *thumbs)
    assert [shown.file for shown in article.images] == ["drawer.png"]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("<h2>What then?</h2>", "## What then?"),
        ("<table><tr><th>Coin<th>Kept<tr><td>Cent<td>No<tr><td>Euro<td>Yes</table>", "| Euro | Yes |"),
    ],
)
def test_a_part_in_the_midst_of_the_story_stays(part: str, expected: str) -> None:
    assert expected in markdown(site(f"{STORY}{part}{STORY.replace('ledger', 'journal')}"))


@pytest.mark.parametrize("generator", ["Sphinx 8.1", "DocBook XSL Stylesheets V1.79.2", "mkdocs-1.6, mkdocs-material"])
def test_a_page_of_a_documentation_tool_is_not_judged(generator: str) -> None:
    page = site(STORY, f'{DRESSED}<meta name="generator" content="{generator}">')
    assert "Ten ways to save money" in markdown(page)


@pytest.mark.parametrize("head", ["", '<link rel="canonical" href="https://nodejs.org/api/fs.html">'])
def test_a_page_that_is_not_dressed_for_the_web_is_not_judged(head: str) -> None:
    assert "Ten ways to save money" in markdown(site(STORY, head))


def test_a_page_that_is_nearly_all_main_content_loses_nothing() -> None:
    page = f"<head>{DRESSED}</head><h1>T</h1><a href=/x>Products</a>{STORY}"
    assert "[Products](/x)" in markdown(page)


def test_a_forum_whose_text_stands_in_noscript_is_read_there() -> None:
    posts = "".join(f"<div class='topic-body'><p>{sentence}</p></div>" for sentence in SENTENCES)
    page = f"<p>Loading</p><noscript><div><h1>Why is the drawer empty?</h1>{posts * 2}</div></noscript>"
    assert all(sentence in markdown(page) for sentence in SENTENCES)


@pytest.mark.parametrize("unclosed", ["<button><div>Menu<div></button>", "<nav><div><ul><li>Menu</div></nav>"])
def test_an_element_that_nobody_closed_ends_where_browsers_end_it(unclosed: str) -> None:
    page = f"<body><header><div>{unclosed}</div></header><main><h1>T</h1>{STORY}</main></body>"
    assert all(sentence in markdown(page) for sentence in SENTENCES)


def test_a_page_that_fades_in_is_read_with_a_warning() -> None:
    page = (
        f"<style>.page {{ opacity: 0 }}</style><script src=fade.js></script><div class=page><h1>T</h1>{STORY * 3}</div>"
    )
    article = convert(page)
    assert SENTENCES[0] in article.markdown
    assert any("only a script shows" in warning for warning in article.warnings)


def test_hidden_text_beside_text_that_is_seen_stays_hidden() -> None:
    page = f"<style>.x {{ opacity: 0 }}</style><script></script><h1>T</h1>{STORY * 2}<p class=x>{'secret ' * 900}</p>"
    assert "secret" not in markdown(page)


def test_the_time_grows_with_the_page_only() -> None:
    def convert_page(size: int) -> None:
        deep = "<div>" * min(size, 1500)
        find_content("an-article", site(f"{STORY * size}{deep}").encode(), {})

    assert grows_in_proportion(convert_page, 400)


@pytest.mark.parametrize(
    "more", ["", "<p>Read on in the manual.</p>", "<style>p { color: red }</style><footer>2026</footer>"]
)
def test_a_page_that_leaves_out_the_tag_of_its_body_is_read_from_its_beginning(more: str) -> None:
    page = f"<!DOCTYPE html><meta charset=utf-8><title>Till</title><main><h1>Closing the till</h1>{STORY}</main>{more}"
    assert markdown(page).startswith(f"# Closing the till\n\n{SENTENCES[0]}\n")
