"""A passage as units that can be quoted, each exactly as it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.language.sentences import Unit, units_of
from kb_pipeline_tests.app.grounding.passages import image
from kb_pipeline_tests.growth import grows_in_proportion

PASSAGE = f"""# Crop

It crops. See [Layers](layers.html).

**Ctrl**

1. Click **Crop**. A dialog
   opens.

{image("dialog", indent="   ")}

2. Choose:
   - the layer
   - the image
10. Save.

| Key | Does |
|---|---|
| Shift | fixes. Always |

```sh
crop. --now
```

> **Note:** It is gone. For
> ever.

{image("end")}
"""


def units(passage: str, kind: str = "") -> list[Unit]:
    return [unit for unit in units_of(passage) if kind in ("", unit.kind)]


def test_every_kind_of_block_has_its_units() -> None:
    assert [(unit.kind, unit.text) for unit in units(PASSAGE)] == [
        ("heading", "# Crop"),
        ("sentence", "It crops."),
        ("sentence", "See [Layers](layers.html)."),
        ("term", "**Ctrl**"),
        ("sentence", "Click **Crop**."),
        ("sentence", "A dialog\n   opens."),
        ("image", image("dialog", indent="   ")),
        ("sentence", "Choose:"),
        ("sentence", "the layer"),
        ("sentence", "the image"),
        ("sentence", "Save."),
        ("header", "| Key | Does |"),
        ("row", "| Shift | fixes. Always |"),
        ("code", "```sh\ncrop. --now\n```"),
        ("sentence", "**Note:** It is gone."),
        ("sentence", "For\n> ever."),
        ("image", image("end")),
    ]


def test_steps_keep_their_numbers_and_their_sentences_together() -> None:
    listed = [unit for unit in units(PASSAGE, "sentence") if unit.depth]
    assert [(unit.label, unit.depth, unit.numbered) for unit in listed] == [
        ("1.", 1, True), ("", 1, False), ("2.", 1, True), ("-", 2, False), ("-", 2, False), ("10.", 1, True),
    ]  # fmt: skip
    assert len({unit.item for unit in listed}) == 5
    assert len({unit.block for unit in listed}) == 1


@given(
    st.lists(st.sampled_from(["- a. B", "1. x", "> q.", "", "# h", "| a |", "|---|", "```", "  t\t", "**b**", "p. Q"]))
)
def test_a_unit_is_where_it_says_it_is(lines: list[str]) -> None:
    for end in ("\n", "\r\n"):
        passage = end.join(lines)
        for unit in units_of(passage):
            assert passage[unit.start : unit.end] == unit.text
            assert unit.text.strip()


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("part", ["a. ", "> ", "- ", "[", "**a ", "`", "| a ", "1. x\n", "![", "\n> ", "(", "<b>"])
def test_hostile_passages_take_time_in_proportion(part: str) -> None:
    assert grows_in_proportion(lambda characters: units_of(part * (characters // len(part))), 200_000)
