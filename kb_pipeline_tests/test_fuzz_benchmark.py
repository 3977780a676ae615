"""A short version of `benchmarks.fuzz`: damaged and hostile input is published or explained, within limits."""

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.document_mutations import ENDINGS, mutated_document, real_documents
from benchmarks.fuzz import as_json, as_text, fuzz, stage
from benchmarks.generate import SAMPLES
from benchmarks.mutations import FORMATS, mutated, seed_image


@pytest.mark.rare("hostile files of whole size")
@pytest.mark.timeout(900)
def test_damaged_images_folders_and_documents_are_published_or_explained_within_limits(tmp_path: Path) -> None:
    glancing = "kb_pipeline_tests.doubles:GlancingAnalyzer"
    limits = {"image_seconds": 5.0, "ocr_pages": 0}
    outcome = fuzz(tmp_path, images=100, folders=40, seed=7, documents=20, workers=2, analyzer=glancing, **limits)
    assert outcome.problems == []
    assert outcome.image_fates.total() == 100
    assert outcome.document_fates.total() == 20
    assert {fate.split(" ", 2)[2] for fate in outcome.document_fates} == {"published", "refused with a reason"}
    assert "Sound" in as_text(outcome)
    assert '"shown": ' in json.dumps(as_json(outcome))


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_seed_makes_the_same_documents(ending: str) -> None:
    path = next(path for path in real_documents([SAMPLES], 3_000_000) if path.suffix == ending)
    other = next(SAMPLES.glob("*.pdf"))
    first, second = (mutated_document(path, other, Random(seed)) for seed in (3, 3))
    assert first == second
    assert len({mutated_document(path, other, Random(seed)) for seed in range(20)}) > 10


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
