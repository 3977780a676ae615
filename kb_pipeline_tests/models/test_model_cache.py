"""A cached model is either intact or built anew."""

from pathlib import Path

import pytest

from kb_pipeline.errors import ModelError
from kb_pipeline.models.minilm import cached_model


class Builds:
    """Counts how often it is asked to build."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> bytes:
        self.count += 1
        return b"model"


def test_the_second_time_nothing_is_built(tmp_path: Path) -> None:
    build = Builds()
    assert cached_model(tmp_path / "new", "m-v1", build) == cached_model(tmp_path / "new", "m-v1", build)
    assert build.count == 1


@pytest.mark.parametrize("damage", [b"", b"mod", b"modeL"])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: bytes) -> None:
    build = Builds()
    cached_model(tmp_path, "m-v1", build).write_bytes(damage)
    assert cached_model(tmp_path, "m-v1", build).read_bytes() == b"model"
    assert build.count == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_another_version_is_another_file(tmp_path: Path) -> None:
    build = Builds()
    assert cached_model(tmp_path, "m-v1", build) != cached_model(tmp_path, "m-v2", build)
    assert build.count == 2


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> bytes:
        raise ModelError("no weights")

    with pytest.raises(ModelError, match="no weights"):
        cached_model(tmp_path, "m-v1", fail)
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="choose a cache folder that is writable"):
        cached_model(tmp_path / "file", "m-v1", Builds())
