"""Files on Blob Storage, on Azurite: read, written, listed and removed with few requests and without a cache."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.store.azure_account import LostRaceError
from kb_pipeline.store.azure_blob import content_type
from kb_pipeline.store.files import names_in, read_bytes, remove_file, remove_folder, write_bytes
from kb_pipeline_tests.azurite import Containers


@pytest.fixture
def filled(root: UPath) -> UPath:
    for name in ("a/index.html", "a/img/x.png", "ab/index.html", "notes.txt"):
        write_bytes(root / name, name.encode())
    return root


def test_what_is_written_is_read_with_one_request_each(root: UPath, requests: list[str]) -> None:
    write_bytes(root / "a.md", b"one")
    write_bytes(root / "a.md", b"two")
    assert requests == ["PUT", "PUT"]
    assert read_bytes(root / "a.md") == b"two"
    assert requests[2:] == ["GET"]


def test_looking_needs_one_request(filled: UPath, requests: list[str]) -> None:
    assert names_in(filled) == {"a", "ab", "notes.txt"}
    assert (filled / "a" / "index.html").is_file()
    assert (filled / "a").is_dir()
    assert not (filled / "b").is_dir()
    assert not (filled / "b").is_file()
    assert requests == ["GET", "HEAD", "GET", "GET", "HEAD"]
    assert names_in(filled / "nothing") == set()


def test_nothing_is_remembered_of_what_others_change(filled: UPath, containers: Containers) -> None:
    assert names_in(filled) == {"a", "ab", "notes.txt"}
    containers.staging.delete_blob("articles/notes.txt")
    containers.staging.upload_blob("articles/c/index.html", b"x")
    assert names_in(filled) == {"a", "ab", "c"}
    assert not (filled / "notes.txt").exists()


@pytest.mark.slow("asks Azurite")
@pytest.mark.parametrize("name", ["a?b.png", "a#b?c=d.png", "100%41.png", "ü ñ.png", "a&b;c.png", "<x>'\".png"])
def test_names_are_taken_as_they_are(root: UPath, containers: Containers, name: str) -> None:
    containers.staging.upload_blob(f"articles/page/{name}", b"data")
    (listed,) = root.fs.walk_blobs(f"{root.path}/page")
    assert (listed.name, listed.size) == (name, 4)
    assert root.fs.cat_file(f"{root.path}/page/{name}") == b"data"


def test_a_large_file_arrives_bit_by_bit(root: UPath) -> None:
    data = bytes(range(256)) * 4096
    (root / "large").write_bytes(data)
    with (root / "large").open("rb") as file:
        assert file.read(10) == data[:10]
        assert file.read() == data[10:]
    assert root.fs.cat_file((root / "large").path, 5, 9) == data[5:9]


def test_a_folder_is_removed_without_its_neighbours(filled: UPath) -> None:
    for _ in range(2):
        remove_folder(filled / "a")
        remove_file(filled / "notes.txt")
        assert names_in(filled) == {"ab"}


def test_a_missing_file_says_which(root: UPath) -> None:
    with pytest.raises(StorageError, match=r"cannot read abfs://.*articles/nothing: there is no such blob"):
        read_bytes(root / "nothing")


def test_writing_needs_the_state_that_was_seen(root: UPath) -> None:
    path, files = (root / "a.md").path, root.fs
    files.pipe_file(path, b"one", if_match="")
    with pytest.raises(LostRaceError, match="somebody else is writing"):
        files.pipe_file(path, b"two", if_match="")
    (seen,) = files.walk_blobs(root.path)
    files.pipe_file(path, b"three", if_match=seen.etag)
    with pytest.raises(LostRaceError):
        files.pipe_file(path, b"four", if_match=seen.etag)
    assert files.cat_file(path) == b"three"


def test_folders_of_a_hierarchical_namespace_are_no_files(root: UPath, containers: Containers) -> None:
    """Such an account shows each folder as an empty blob that is marked."""
    for name in ("page", "page/img"):
        containers.staging.upload_blob(f"articles/{name}", b"", metadata={"Hdi_isfolder": "true"})
    write_bytes(root / "page" / "img" / "x.png", b"x")
    assert list(root.fs.find(root.path)) == [(root / "page" / "img" / "x.png").path]
    assert (root / "page").is_dir() and not (root / "page").is_file()
    assert names_in(root / "page") == {"img"}
    remove_folder(root / "page")
    assert names_in(root) == set()


def test_what_a_writer_did_not_finish_is_not_uploaded(root: UPath) -> None:
    with pytest.raises(RuntimeError), (root / "half").open("wb") as file:
        file.write(b"ha")
        raise RuntimeError
    assert names_in(root) == set()


def test_files_have_the_type_that_browsers_know(serving: UPath, containers: Containers) -> None:
    for name in ("article.md", "manifest.json", "images/a.png", "other"):
        write_bytes(serving / "page" / name, b"x")
    types = {
        blob.name.rpartition("/")[2]: blob.content_settings.content_type for blob in containers.serving.list_blobs()
    }
    assert types == {
        "article.md": "text/markdown; charset=utf-8",
        "manifest.json": "application/json",
        "a.png": "image/png",
        "other": "application/octet-stream",
    }
    assert content_type("a/b.c/PNG") == "application/octet-stream"


@pytest.mark.slow("asks Azurite")
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_reads_with_a_client_of_its_own(filled: UPath, method: str) -> None:
    assert read_bytes(filled / "notes.txt") == b"notes.txt"  # there is a client here by now
    with ProcessPoolExecutor(1, get_context(method)) as pool:
        assert pool.submit(read_bytes, filled / "notes.txt").result(60) == b"notes.txt"
    assert pickle.loads(pickle.dumps(filled)) == filled
