"""The memory survives a restart, and its loss."""

import pytest
from upath import UPath

from kb_pipeline.flow.watch import Batch, Memory, load_memory, save_memory
from kb_pipeline.store.layout import Layout


@pytest.fixture
def layout(tmp_path) -> Layout:
    return Layout(UPath(tmp_path), UPath(tmp_path / "serving"))


def test_what_was_saved_is_loaded(layout: Layout) -> None:
    batch = Batch(id="1", kind="ingest", signatures={"alpha": "v1"})
    memory = Memory(generation="one", done={"beta": "v1"}, outstanding=(batch,), missing={"gamma": 1.5})
    save_memory(layout, memory)
    assert load_memory(layout) == memory


@pytest.mark.parametrize("damage", [b"", b'{"done": {"alp', b"\xff\x00", b'{"of": "another version"}'])
def test_a_damaged_memory_is_none(layout: Layout, damage: bytes) -> None:
    (layout.home / "sensor.json").write_bytes(damage)
    assert load_memory(layout) is None


def test_there_is_none_at_first(layout: Layout) -> None:
    assert load_memory(layout) is None
