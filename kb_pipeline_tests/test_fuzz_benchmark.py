"""A short version of `benchmarks.fuzz`: damaged and hostile input is published or explained, within limits."""

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz import as_json, as_text, fuzz, stage
from benchmarks.mutations import FORMATS, mutated, seed_image


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_images_and_forty_folders_are_published_or_explained_within_limits(tmp_path: Path) -> None:
    outcome = fuzz(tmp_path, images=100, folders=40, seed=7, workers=2, image_seconds=5.0)
    assert outcome.problems == []
    assert outcome.image_fates.total() == 100
    assert "Sound" in as_text(outcome)
    assert '"shown": ' in json.dumps(as_json(outcome))


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_seed_makes_the_same_files(form: str) -> None:
    first, second = (mutated(seed_image(form, dice), b"other", dice) for dice in (Random(3), Random(3)))
    assert first == second
    assert first != mutated(seed_image(form, Random(4)), b"other", Random(4))


def test_what_is_staged_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name in "ab":
        stage(tmp_path / name, 40, 10, Random(5))
    names = [sorted(str(path.relative_to(tmp_path / name)) for path in (tmp_path / name).rglob("*")) for name in "ab"]
    assert names[0] == names[1]
