"""The staging folder of the tests of the store, with one article in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.settings import Settings
from kb_pipeline.store.place import remote_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "staging" / "good").mkdir(parents=True)
    (tmp_path / "staging" / "good" / "index.html").write_text("<p>text</p>")
    return tmp_path / "staging"


@pytest.fixture(params=["local", "azurite"])
def any_root(request: pytest.FixtureRequest, root: Path) -> Iterator[UPath]:
    """The same staging folder on a disk and in the cloud."""
    if request.param == "local":
        yield UPath(root)
        return
    there = request.getfixturevalue("containers").settings(Settings())
    cloud = remote_path(there.staging, "staging", there)
    (cloud / "good" / "index.html").write_text("<p>text</p>")
    yield cloud
