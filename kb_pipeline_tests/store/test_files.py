"""Layer files are written whole or not at all."""

import os
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.store.files import copy_file, names_in, read_bytes, remove_file, remove_folder, settle, write_bytes


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
    with pytest.raises(StorageError, match="a file stands where a folder is needed: move it away"):
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


def test_a_copy_on_one_disk_uses_no_space_and_replaces_what_was_there(tmp_path: Path) -> None:
    source, target = UPath(tmp_path) / "source", UPath(tmp_path) / "new" / "target"
    for data in (b"one", b"two", b"two"):
        write_bytes(source, data)
        copy_file(source, target)
        copy_file(source, target)
        assert read_bytes(target) == data
        assert target.stat().st_ino == source.stat().st_ino
    assert names_in(target.parent) == {"target"}


def test_replacing_a_file_leaves_its_copies_as_they_are(tmp_path: Path) -> None:
    source, target = UPath(tmp_path) / "source", UPath(tmp_path) / "target"
    write_bytes(source, b"one")
    copy_file(source, target)
    write_bytes(source, b"two")
    assert read_bytes(target) == b"one"


def test_a_disk_that_cannot_link_gets_a_copy_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    source, target = UPath(tmp_path) / "source", UPath(tmp_path) / "new" / "target"
    write_bytes(source, b"data")
    copy_file(source, target)
    assert read_bytes(target) == b"data"
    assert names_in(target.parent) == {"target"}


def test_copying_between_a_disk_and_object_storage(tmp_path: Path) -> None:
    local, remote = UPath(tmp_path) / "file", UPath("memory://copies/file")
    write_bytes(local, b"data")
    copy_file(local, remote)
    remove_file(local)
    copy_file(remote, local)
    assert read_bytes(local) == b"data"


def test_what_is_missing_cannot_be_copied_and_leaves_the_target(tmp_path: Path) -> None:
    target = UPath(tmp_path) / "target"
    write_bytes(target, b"old")
    with pytest.raises(StorageError, match=r"cannot read .*/missing"):
        copy_file(UPath(tmp_path) / "missing", target)
    assert read_bytes(target) == b"old"
    assert names_in(UPath(tmp_path)) == {"target"}


@pytest.mark.parametrize("root", ["local", "memory://folders"])
def test_a_folder_is_removed_with_all_that_is_in_it_and_may_be_gone_already(tmp_path: Path, root: str) -> None:
    folder = (UPath(tmp_path) if root == "local" else UPath(root)) / "page"
    for name in ("article.md", "images/a.png"):
        write_bytes(folder / name, b"x")
    write_bytes(folder.parent / "page-2" / "article.md", b"x")
    for _ in range(2):
        remove_folder(folder)
        assert names_in(folder) == set()
    assert names_in(folder.parent) == {"page-2"}


def test_what_cannot_be_removed_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match=r"cannot remove .*/file"):
        remove_folder(UPath(tmp_path) / "file")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match=r"cannot remove .*/folder"):
        remove_file(UPath(tmp_path) / "folder")


class TestSettling:
    @pytest.fixture
    def synced(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Names of what was settled, in order."""
        names: list[str] = []
        monkeypatch.setattr(
            os, "fsync", lambda descriptor: names.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        )
        return names

    def test_files_come_before_the_folders_that_hold_their_names(self, tmp_path: Path, synced: list[str]) -> None:
        paths = [UPath(tmp_path) / folder / name for folder in "ab" for name in "xy"]
        for path in paths:
            write_bytes(path, b"data")
        settle(paths)
        assert set(synced[:4]) == set(map(str, paths))
        assert set(synced[4:]) == {str(tmp_path / "a"), str(tmp_path / "b")}

    def test_what_is_gone_and_what_is_on_object_storage_is_left_out(self, tmp_path: Path, synced: list[str]) -> None:
        settle([UPath(tmp_path) / "gone", UPath("memory://settled/file")])
        assert synced == [str(tmp_path)]

    def test_a_disk_that_fails_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_: int) -> None:
            raise OSError(5, "Input/output error")

        write_bytes(UPath(tmp_path) / "file", b"data")
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StorageError, match=r"cannot write .*file: Input/output error"):
            settle([UPath(tmp_path) / "file"])
