"""Layer files are written whole or not at all."""

from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.storage import names_in, read_bytes, remove_file, write_bytes


def test_what_is_written_is_read_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = UPath(tmp_path) / "new" / "folder" / "file.json"
    write_bytes(path, b"one")
    write_bytes(path, b"two")
    assert read_bytes(path) == b"two"
    assert names_in(path.parent) == {"file.json"}


def test_a_name_of_255_bytes_can_be_written(tmp_path: Path) -> None:
    path = UPath(tmp_path) / ("x" * 255)
    write_bytes(path, b"data")
    assert read_bytes(path) == b"data"


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = UPath(tmp_path) / "file"
    write_bytes(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StorageError, match=r"cannot write .*file: No space left"):
        write_bytes(path, b"new")
    assert read_bytes(path) == b"old"
    assert names_in(path.parent) == {"file"}


def test_a_target_that_is_no_folder_says_what_to_check(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="check that it exists"):
        write_bytes(UPath(tmp_path) / "file" / "below", b"data")


def test_a_missing_file_is_an_error_to_read_and_none_to_remove(tmp_path: Path) -> None:
    path = UPath(tmp_path) / "nothing"
    with pytest.raises(StorageError, match="nothing"):
        read_bytes(path)
    remove_file(path)


def test_object_storage_is_used_through_the_same_functions() -> None:
    path = UPath("memory://layers/serving/article.md")
    write_bytes(path, b"text")
    assert read_bytes(path) == b"text"
    assert names_in(path.parent) == {"article.md"}
