"""Records that nothing could make again: whatever happens to one of their two files, the other takes its place."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import seal, unseal
from kb_pipeline.store.kept import DurableRecord, RecordRead


class Note(Record):
    """Something to keep."""

    text: str


def note(home: Path, name: str = "notes/one.json") -> DurableRecord[Note]:
    return DurableRecord(UPath(home), name, Note.model_validate_json)


@pytest.fixture
def kept(tmp_path: Path) -> DurableRecord[Note]:
    kept = note(tmp_path)
    kept.write(b'{"text":"paid for"}')
    return kept


@given(st.dictionaries(st.text(), st.text(), max_size=3))
def test_what_was_sealed_is_json_and_is_unsealed_as_it_was(values: dict[str, str]) -> None:
    body = json.dumps(values, separators=(",", ":")).encode()
    assert unseal("name", seal("name", body)) == body
    assert json.loads(seal("name", body)).keys() == values.keys() | {"sha256"}


def test_a_seal_is_of_one_name() -> None:
    with pytest.raises(ValueError, match="checksum"):
        unseal("another", seal("name", b'{"text":"x"}'))


def test_what_is_kept_is_read(kept: DurableRecord[Note]) -> None:
    assert kept.read() == kept.mend() == RecordRead(Note(text="paid for"))


def test_what_was_never_kept_is_none_and_no_damage(tmp_path: Path) -> None:
    assert note(tmp_path).read() == note(tmp_path).mend() == RecordRead(None)


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_a_damaged_file_is_read_from_its_copy_and_mended_from_it(kept: DurableRecord[Note], damage: str) -> None:
    before = kept.path.read_bytes()
    kept.path.unlink() if damage == "gone" else kept.path.write_bytes(before[:-20])
    for read in (kept.read(), kept.mend()):
        assert read.value == Note(text="paid for")
        assert read.damage == f"{kept.path} is {damage}; its copy {kept.copy} is used"
    assert (kept.path.read_bytes(), kept.is_whole()) == (before, True)


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_a_damaged_copy_keeps_nobody_from_reading_and_is_mended(kept: DurableRecord[Note], damage: str) -> None:
    kept.copy.unlink() if damage == "gone" else kept.copy.write_bytes(b"")
    assert kept.read() == RecordRead(Note(text="paid for"))
    assert kept.mend() == RecordRead(Note(text="paid for"), f"{kept.copy}, the copy of {kept.path}, is {damage}")
    assert kept.copy.read_bytes() == kept.path.read_bytes()


def test_when_both_are_damaged_it_says_so(kept: DurableRecord[Note]) -> None:
    kept.path.write_bytes(b"torn")
    kept.copy.unlink()
    for read in (kept.read(), kept.mend()):
        assert read == RecordRead(None, f"{kept.path} is damaged, and its copy {kept.copy} is gone")


def test_the_file_of_another_record_is_not_taken_for_this_one(kept: DurableRecord[Note], tmp_path: Path) -> None:
    other = note(tmp_path, "notes/two.json")
    other.write(b'{"text":"of something else"}')
    kept.path.write_bytes(other.path.read_bytes())
    assert kept.read().value == Note(text="paid for")


def test_a_record_without_a_checksum_is_damaged(kept: DurableRecord[Note]) -> None:
    kept.path.write_bytes(b'{"text":"paid for"}')
    kept.copy.write_bytes(b'{"text":"paid for"}')
    assert kept.read().value is None


def test_what_is_removed_is_gone_with_its_copy(kept: DurableRecord[Note]) -> None:
    kept.remove()
    assert (kept.path.exists(), kept.copy.exists()) == (False, False)
    kept.remove()


def test_a_file_that_cannot_be_read_is_no_damage(kept: DurableRecord[Note]) -> None:
    kept.path.unlink()
    kept.path.mkdir()
    with pytest.raises(StorageError, match=r"notes/one\.json"):
        kept.read()
