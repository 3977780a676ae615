"""The canvas of a page becomes HTML: what is stored in it, in the order of its sections."""

from typing import Any

import pytest

from kb_pipeline.intake.sharepoint.canvas import html_of

Pairs = dict[str, str]


def part(texts: Pairs | None = None, **more: Any) -> dict[str, Any]:
    """A web part of SharePoint's own with these texts, links, pictures and properties."""
    kinds = {"searchablePlainTexts": texts or {}, **{kind: more.get(kind, {}) for kind in ("links", "imageSources")}}
    kinds["htmlStrings"] = more.get("htmlStrings", {})
    content = {kind: [{"key": key, "value": value} for key, value in of.items()] for kind, of in kinds.items()}
    return {"data": {"serverProcessedContent": content, "properties": more.get("properties", {})}}


def page(*columns: list[dict[str, Any]], beside: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    sections = [{"columns": [{"webparts": column} for column in columns]}]
    return {"horizontalSections": sections, "verticalSection": {"webparts": list(beside)}}


def test_texts_stand_in_the_order_of_columns_and_then_beside_them() -> None:
    one, two, three = ({"innerHtml": f"<p>{name}</p>"} for name in ("one", "two", "three"))
    assert html_of(page([one], [two], beside=(three,))) == (
        "<div><p>one</p></div>\n<div><p>two</p></div>\n<div><p>three</p></div>"
    )


@pytest.mark.parametrize(
    ("web_part", "shown"),
    [
        (part({"title": "Quick links"}), "<h2>Quick links</h2>"),
        (part({"text": '1 < 2 & "3"'}), "<p>1 &lt; 2 &amp; &quot;3&quot;</p>"),
        (part({"code": "if a < b:"}), "<pre><code>if a &lt; b:</code></pre>"),
        (part(htmlStrings={"html": "<h2>Written</h2>"}), "<div><h2>Written</h2></div>"),
        (
            part({"items[0].title": "The pump", "items[1].title": "No link"}, links={"items[0].sourceItem.url": "/a"}),
            '<p><a href="/a">The pump</a></p>\n<p>No link</p>',
        ),
        (
            part(imageSources={"imageSource": "/a.png"}, properties={"altText": 'A "panel"'}),
            '<p><img src="/a.png" alt="A &quot;panel&quot;"></p>',
        ),
        (
            part({"captionText": "The panel"}, imageSources={"imageSource": "/a.png"}),
            '<figure><img src="/a.png" alt="The panel"><figcaption>The panel</figcaption></figure>',
        ),
        (
            {"innerHtml": '<div class="imagePlugin" data-imageurl="/a.png"></div>'},
            '<div><div class="imagePlugin" data-imageurl="/a.png"><img src="/a.png" alt=""></div></div>',
        ),
    ],
)
def test_a_web_part_shows_what_is_stored_in_the_page(web_part: dict[str, Any], shown: str) -> None:
    assert html_of(page([web_part])) == shown


@pytest.mark.parametrize(
    "canvas", [{}, {"horizontalSections": None}, {"verticalSection": None}, page([]), page([{"data": None}])]
)
def test_a_canvas_without_text_is_empty(canvas: dict[str, Any]) -> None:
    assert html_of(canvas) == ""
