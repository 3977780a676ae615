"""Names for images that survive being printed and read again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.restore.recognise import aliases_of, looks


@pytest.mark.parametrize("file", ["toolbox.png", "step-1.image", "Save_As.PNG", "images/toolbox.png"])
def test_a_short_plain_name_is_its_own_alias(file: str) -> None:
    assert aliases_of([file]) == {file: file.rsplit("/", 1)[-1]}


@pytest.mark.parametrize(
    ("file", "alias"),
    [
        ("Bild für Übersicht.png", "1-Bild-fur-Ubersicht.png"),
        ("スクリーン.png", "1-png"),
        ("x" * 200 + ".png", "1-" + "x" * 20 + ".png"),
        ("[[IMG:a]].png", "1-IMG-a.png"),
    ],
)
def test_other_names_get_a_number_and_what_is_plain_of_them(file: str, alias: str) -> None:
    assert aliases_of([file]) == {file: alias}


def test_names_that_look_alike_are_told_apart() -> None:
    aliases = aliases_of(["step-1.png", "step-l.png", "sub/step-1.png", "step-I.png"])
    assert len({looks(alias) for alias in aliases.values()}) == 4


@given(st.lists(st.text(max_size=60), unique=True, max_size=12))
def test_aliases_are_distinct_short_and_plain(files: list[str]) -> None:
    aliases = aliases_of(files)
    assert list(aliases) == files
    assert len({looks(alias) for alias in aliases.values()}) == len(files)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,80}", alias) for alias in aliases.values())
