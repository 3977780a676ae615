"""Opening a catalog by its name in the settings."""

from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.search import open_catalog
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contracts.search_samples import generation


class Somebodys(LanceDBCatalog):
    """Is called with the settings."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home)


def test_ours_by_name_and_others_by_module_and_class() -> None:
    assert isinstance(open_catalog(Settings(index="lancedb")), LanceDBCatalog)
    assert isinstance(open_catalog(Settings(index=f"{__name__}:Somebodys")), Somebodys)


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"^KB_INDEX is 'elastic'.*lancedb"):
        open_catalog(Settings(index="elastic"))


def test_opening_makes_nothing(tmp_path: Path) -> None:
    open_catalog(Settings(home=str(tmp_path))).open(generation())
    assert list(tmp_path.iterdir()) == []
