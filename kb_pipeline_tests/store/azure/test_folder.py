"""A folder that is replaced while others read it."""

import pytest
from upath import UPath

from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store import serving as blob_folder
from kb_pipeline.store.azure_account import LostRaceError
from kb_pipeline.store.files import names_in, read_bytes, write_bytes
from kb_pipeline.store.serving import FileToServe, Lease, put, remove, replacing, shows, tidy

LAST = ("article.md", "manifest.json")


def contents(**files: str) -> dict[str, FileToServe]:
    named = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return {name: FileToServe(sha256(data), lambda data=data: data) for name, data in named.items()}


def hashes(wanted: dict[str, FileToServe]) -> dict[str, str]:
    return {name: content.sha256 for name, content in wanted.items()}


OLD = contents(article_md="old", manifest_json="old", a_png="a", b_png="b")
NEW = contents(article_md="new", manifest_json="new", a_png="a", c_png="c")


@pytest.fixture
def page(serving: UPath) -> UPath:
    put(serving / "page", OLD, LAST)
    tidy(serving / "page", lambda _: False)
    return serving / "page"


def test_a_folder_shows_what_was_put_there_once_it_is_tidy(page: UPath) -> None:
    assert shows(page, hashes(OLD))
    put(page, NEW, LAST)
    assert not shows(page, hashes(NEW))
    tidy(page, lambda name: name == "b.png")
    assert shows(page, hashes(NEW))
    assert names_in(page) == {"article.md", "manifest.json", "a.png", "c.png"}


def test_only_what_differs_is_written_and_the_manifest_comes_last(page: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = page.fs.pipe_file
    monkeypatch.setattr(
        type(page.fs), "pipe_file", lambda _, path, *rest, **o: (written.append(path), write(path, *rest, **o))
    )
    put(page, NEW, LAST)
    names = [path.rpartition("/")[2] for path in written]
    assert names == [blob_folder.UNFINISHED, "c.png", "article.md", "manifest.json"]


def test_a_look_is_one_request_and_a_replacement_a_few(page: UPath, requests: list[str]) -> None:
    shows(page, hashes(OLD))
    assert requests == ["GET"]
    with replacing([page]):
        put(page, NEW, LAST)
        tidy(page, lambda name: name == "b.png")
    assert len(requests) == 1 + len(
        ["marker", "lease", "list", "c.png", "article", "manifest", "list", "b.png", "marker"]
    )


def test_a_folder_that_is_only_held_still_shows_what_it_did(page: UPath) -> None:
    with replacing([page]):
        assert shows(page, hashes(OLD))
        put(page, NEW, LAST)
        assert not shows(page, hashes(NEW))
    assert names_in(page) == {"article.md", "manifest.json", "a.png", "b.png", "c.png", blob_folder.UNFINISHED}
    with replacing([page]):
        assert not shows(page, hashes(NEW)), "somebody did not get to its end"


def test_what_somebody_else_changed_is_seen_and_put_right(page: UPath) -> None:
    write_bytes(page / "a.png", b"damaged")
    assert not shows(page, hashes(OLD))
    put(page, OLD, LAST)
    tidy(page, lambda _: False)
    assert shows(page, hashes(OLD))
    assert read_bytes(page / "a.png") == b"a"


@pytest.mark.parametrize("name", ["c.png", "article.md", "manifest.json"])
def test_who_writes_in_between_wins_and_the_next_puts_it_right(
    page: UPath, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As somebody could whose lease ended while its request was on the way."""
    require, done = Lease.require, []

    def late(lease: Lease) -> None:
        require(lease)
        if not done:
            done.append(write_bytes(page / name, b"late"))

    with monkeypatch.context() as patched:
        patched.setattr(Lease, "require", late)
        with pytest.raises(LostRaceError, match="somebody else is writing"):
            put(page, NEW, LAST)
    assert read_bytes(page / name) == b"late"
    assert not shows(page, hashes(NEW))
    put(page, NEW, LAST)
    tidy(page, lambda name: name == "b.png")
    assert shows(page, hashes(NEW))


def test_a_removed_folder_is_gone_from_its_manifest_on(page: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []
    take = page.fs.rm_file
    monkeypatch.setattr(type(page.fs), "rm_file", lambda _, path, **o: (removed.append(path), take(path, **o)))
    write_bytes(page.parent / "page-2" / "a.png", b"x")
    for _ in range(2):
        remove(page, first="manifest.json")
        assert names_in(page.parent) == {"page-2"}
    assert removed[0].endswith("/page/manifest.json")
    assert removed[-1].endswith(blob_folder.UNFINISHED)
