"""That what stands beside images is read once, however many images share it: counted, not timed."""

from collections.abc import Callable
from typing import Any

import pytest

from kb_pipeline.steps.html import beside_images
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline_tests.steps.html.pages import convert, image, markdown

Count = Callable[[Any, str], list[Any]]


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Replaces a function by one that keeps the first argument of each call, without the object of a method."""

    def watched(owner: Any, name: str) -> list[Any]:
        original, calls = getattr(owner, name), []

        def call(*args: Any) -> Any:
            calls.append(args[-1])
            return original(*args)

        monkeypatch.setattr(owner, name, call)
        return calls

    return watched


def test_the_words_of_a_line_are_read_once_for_all_its_icons(count: Count) -> None:
    lines = count(beside_images, "_own_texts")
    icons = "".join(f"<img src=i.png alt='Sign {number}'> " for number in range(100))
    text = markdown(f"<p>Press one of these {icons}<p>Then one of those {icons}", image("i.png", 48, 48))
    assert text.count("Sign 99") == 2
    assert len(lines) == 2


def test_an_alternative_text_that_was_put_in_counts_for_the_icons_after_it() -> None:
    assert markdown("<p>Press <img src=i.png alt=Save> or <img src=i.png alt=Save> now", image("i.png", 20, 20)) == (
        "Press Save or now"
    )


def test_the_text_of_a_link_is_read_once_for_all_its_images(count: Count) -> None:
    links = count(beside_images, "has_text")
    text = markdown("<p><a href=x>one " + "<img src=a.png>" * 100 + " two</a>", image("a.png"))
    assert text.startswith("[[IMG:a.png]]")
    assert text.endswith("[one two](x)")
    assert len(links) == 1


def test_a_caption_is_looked_for_once_a_figure(count: Count) -> None:
    figures = count(beside_images, "_caption_in")
    files = [image(f"{number}.png") for number in range(50)]
    pictures = "".join(f"<img src={file.file}>" for file in files)
    converted = convert(f"<figure>{pictures}<figcaption>All of them</figcaption></figure>", *files)
    assert {reference.caption for reference in converted.images} == {"All of them"}
    assert len(figures) == 1


def test_the_text_before_images_is_read_once(count: Count) -> None:
    texts = count(Placeholders, "as_words")
    files = [image(f"{number}.png") for number in range(200)]
    html = "<p>Start " + "".join(f"word <img src={file.file}> " for file in files)
    converted = convert(html, *files)
    assert converted.images[1].context == "Start word word"
    assert sum(map(len, texts)) < 2 * len(html)
