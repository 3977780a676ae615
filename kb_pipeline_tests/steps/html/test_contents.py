"""The contents of elements are what reading each of them again would find."""

import pytest

from kb_pipeline.steps.html.contents import PageContents
from kb_pipeline.steps.html.dom import parse, text_of
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import markdown

PAGES = [
    "<div>a<b>b</b> c<a href=x> d <i>e</i>f</a>g <p> \n </p><img src=i>h<h1>t<a href=y>u</a></h1></div>",
    "<p>one<a href=x>two</a>three<br>four <a>no link</a></p> tail <ul><li><li>\u3000x<li> </ul>",
    "<div><div><div></div></div></div>",
]


@pytest.mark.parametrize("page", PAGES)
def test_they_are_what_reading_an_element_again_finds(page: str) -> None:
    tree = parse(page)
    assert tree is not None
    contents = PageContents(tree)
    for element in tree.iter():
        links = [link for link in element.iter("a") if link.get("href")]
        assert contents.links(element) == links
        assert contents.characters(element) == len(text_of(element))
        assert contents.linked_characters(element) == sum(len(text_of(link)) for link in links)
        assert [contents.text(element, most) for most in (1, 5, 300)] == [text_of(element, m) for m in (1, 5, 300)]
        assert contents.has_title(element) == any(True for _ in element.iter("h1"))
        assert contents.has_image(element) == any(True for _ in element.iter("img"))


@pytest.mark.parametrize("nested", ["<div class=menu>", "<header>", "<p class=x><div>"])
def test_boxes_in_boxes_are_read_in_proportion_to_the_page(nested: str) -> None:
    # Deeper, lxml itself counts: when it lets go of an element, it looks at all those around it.
    assert grows_in_proportion(lambda size: markdown(nested * size + "<br>" * 20 * size + "<p>seen"), 400)
