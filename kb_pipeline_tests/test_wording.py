import pytest

from kb_pipeline.wording import counted


@pytest.mark.parametrize(("number", "words"), [(0, "0 images"), (1, "1 image"), (1200, "1,200 images")])
def test_a_number_has_its_noun(number: int, words: str) -> None:
    assert counted(number, "image") == words


@pytest.mark.parametrize(("number", "words"), [(1, "1 entry is wrong"), (3, "3 entries are wrong")])
def test_a_plural_of_its_own_is_named(number: int, words: str) -> None:
    assert counted(number, "entry is wrong", "entries are wrong") == words
