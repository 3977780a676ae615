"""The sentences that an answer used are marked in the passage, whatever markdown they are in."""

import pytest

from app.page.markup import passage_html

PASSAGE = """## Crop

1. Choose **Layer**. Then _Crop to `Content`_ now.
2. Press OK.

| Key | Use |
| --- | --- |
| Ctrl+Z | Undo |

```
crop --now
```
"""


def marked(*quotes: str) -> str:
    html = passage_html(PASSAGE, quotes)
    return " ".join(part.split("</mark>")[0] for part in html.split("<mark>")[1:])


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("Press OK.", "Press OK."),
        ("2. Press OK.", "Press OK."),
        ("1. Choose **Layer**.", "Choose  Layer ."),
        ("Then _Crop to `Content`_ now.", "Then  Crop to  Content  now."),
        ("| Ctrl+Z | Undo |", "Ctrl+Z Undo"),
        ("## Crop", "Crop"),
        ("crop --now", "crop --now"),
        ("Not in it.", ""),
        ("", ""),
    ],
)
def test_a_quote_is_marked_where_it_stands(quote: str, shown: str) -> None:
    assert marked(quote) == shown


def test_markup_is_the_same_with_and_without_marks() -> None:
    html = passage_html(PASSAGE, ["1. Choose **Layer**.", "| Ctrl+Z | Undo |", "crop --now"])
    assert html.replace("<mark>", "").replace("</mark>", "") == passage_html(PASSAGE)


def test_quotes_that_overlap_are_one() -> None:
    assert (
        marked("Choose **Layer**. Then", "Then _Crop to `Content`_ now.")
        == "Choose  Layer . Then  Crop to  Content  now."
    )
