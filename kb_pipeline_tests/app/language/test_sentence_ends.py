"""Sentences of a paragraph: rather two joined than one cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.language.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "See e.g. The Manual of Mr. J. Smith, pp. 3 ff., fig. 2 and no. 7.",
        "GIMP 2.10.32 reads settings.ini of version 1.2.",
        "Choose File > Save As... and wait.",
        "Choose Image → Scale Image… The dialog opens.",
        "3.2. Tool options dialog is missing",
        "Figure 1. The finished rule",
        "Call `print. Now` first.",
        "It is in [Section 4. The Rest](x.html#a.b), on top.",
        "**Note. Read this.**",
        "It takes 5 min. at most.",
        "Die Frist endet am 3. März 2024.",
    ],
)
def test_one_sentence_stays_whole(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Use GIMP 2.10. Then wait.", ["Use GIMP 2.10.", "Then wait."]),
        ("Is it? Yes! “No.” And (so.) End", ["Is it?", "Yes!", "“No.”", "And (so.)", "End"]),
        ("*How to fix:* Do it. **Ctrl** helps.", ["*How to fix:* Do it.", "**Ctrl** helps."]),
        ("Colours, layers etc. This is new.", ["Colours, layers etc.", "This is new."]),
        ("One.\n> Two on the next line.", ["One.", "Two on the next line."]),
        ("日本語。次の文。", ["日本語。", "次の文。"]),
        ("It takes 12. More is better.", ["It takes 12.", "More is better."]),
        (" \n ", []),
    ],
)
def test_sentences_end_where_another_begins(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text(alphabet='aB1. !?…。\n>`*[]()"', max_size=80))
def test_only_white_space_and_quote_marks_are_outside_of_sentences(text: str) -> None:
    done = 0
    for start, end in sentence_spans(text):
        assert start >= done
        assert not text[done:start].strip(" \n>")
        done = end
    assert not text[done:].strip()
