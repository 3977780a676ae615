"""A huge page is cut at its headings, if that is told; nothing of it is lost or doubled."""

import re
from pathlib import Path

import pytest

from kb_pipeline.intake.chapters import ChapteredPage
from kb_pipeline.intake.running import run
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE, FolderTree

BODIES = {
    "headings side by side": "<h1 id=t>T</h1>intro<h2 id=a>A</h2>one<p>two</p><h2 id=b>B</h2><p>three</p>four",
    "sections": "<h1 id=t>T</h1>intro<section id=a><h2>A</h2>one<p>two</p></section>"
    "<section id=b><h2>B</h2><p>three</p>four</section>",
    "boxes in boxes": "<div id=x><h1 id=t>T</h1>intro<div><div id=a><div><h2>A</h2></div>one<p>two</p></div>"
    "<div id=b><div><h2>B</h2></div><p>three</p>four</div></div></div>",
    "anchors before": "<h1 id=t>T</h1>intro<a name=a></a><h2>A</h2>one<p>two</p>"
    "<a name=b></a><h2>B</h2><p>three</p>four",
    "anchors inside": "<h1 id=t>T</h1>intro<h2><a id=a></a>A</h2>one<p>two</p><h2><a name=b>B</a></h2><p>three</p>four",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_each_chapter_is_a_page_with_its_text(body: str) -> None:
    page = ChapteredPage(f"<html lang=en><head><title>Manual</title></head><body>before{body}</body></html>", "h2")
    assert [chapter.anchor for chapter in page.chapters] == ["", "t", "a", "b"]
    texts = [re.sub("<[^>]*>", " ", page.html(chapter.anchor).partition("<body")[2]) for chapter in page.chapters]
    words = [re.findall(r"[A-Za-z]+", text.partition(">")[2]) for text in texts]
    assert words == [["before"], ["T", "intro"], ["A", "one", "two"], ["B", "three", "four"]]
    assert "<title>A - Manual</title>" in page.html("a")
    assert (page.places["a"], page.places["b"]) == ("a", "b")


def test_headings_without_a_name_are_named_by_their_words_and_the_first_is_the_page() -> None:
    page = ChapteredPage(
        f"<body><h1>The pump</h1>{PROSE}<h1>Über die Pumpe!</h1><p>x</p><h1>The valve</h1></body>", "h1"
    )
    assert [chapter.anchor for chapter in page.chapters] == ["", "über-die-pumpe-", "the-valve"]
    assert "The pump" in page.html("")


def test_links_lead_to_the_chapters(tree: FolderTree, settings: Settings, staging: Path) -> None:
    tree.put("x.png", b"picture")
    tree.put(
        "big.html",
        f"<title>Big</title><h1 id=t>Big</h1><p>{PROSE}</p><h2 id=one>One</h2><p id=p>{PROSE}</p><img src=x.png>"
        f'<h2 id=two>Two</h2><p>{PROSE} <a href="#p">first</a> <a href="#q">here</a></p><p id=q>{PROSE}</p>',
    )
    tree.put("other.html", f'<h1>Other</h1><p>{PROSE} <a href="big.html#p">One</a></p>')
    taken = run(tree.source(settings, chapters="h2", url="https://docs.example.org"), settings)
    assert taken.new == ["manual-big", "manual-big-one", "manual-big-two", "manual-other"]
    two = (staging / "manual-big-two" / "index.html").read_text()
    assert 'href="../manual-big-one/index.html#p"' in two
    assert 'href="#q"' in two
    assert 'href="../manual-big-one/index.html#p"' in (staging / "manual-other" / "index.html").read_text()
    assert (staging / "manual-big-one" / "x.png").exists()
    assert "https://docs.example.org/big.html#two" in (staging / "manual-big-two" / "metadata.json").read_text()
    again = run(tree.source(settings, chapters="h2", url="https://docs.example.org"), settings)
    assert (again.new, again.changed, again.gone) == ([], [], [])
    whole = run(tree.source(settings), settings)
    assert (whole.gone, whole.changed) == (["manual-big-one", "manual-big-two"], ["manual-big", "manual-other"])
    assert "first" in (staging / "manual-big" / "index.html").read_text()
