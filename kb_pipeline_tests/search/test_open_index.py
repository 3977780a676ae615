"""Opening an index by its name in the settings."""

from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.search import open_index


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'elastic'.*lancedb"):
        open_index("elastic", "x", embedding_model="m", dimensions=4)


def test_opening_makes_nothing(tmp_path: Path) -> None:
    open_index("lancedb", str(tmp_path / "index"), embedding_model="m", dimensions=4)
    assert list(tmp_path.iterdir()) == []
