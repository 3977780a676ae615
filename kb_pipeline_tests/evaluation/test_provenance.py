"""The provenance of an evaluation: a hash of the code that decides its results."""

from pathlib import Path

import pytest

from kb_pipeline.evaluation.provenance import code_hash


def test_the_hash_changes_with_the_code_and_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "words.py").write_text("WORDS = 1\n")
    before = code_hash(("room",), tmp_path)
    code_hash.cache_clear()
    assert code_hash(("room",), tmp_path) == before
    (tmp_path / "room" / "words.py").write_text("WORDS = 2\n")
    code_hash.cache_clear()
    assert code_hash(("room",), tmp_path) != before


def test_a_folder_that_only_bytecode_is_left_of_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "moved" / "__pycache__").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="moved holds no code"):
        code_hash(("moved",), tmp_path)
