"""The staging folder belongs to the authors: it is read, and nothing in it is trusted."""

import builtins
import os
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError, UnreadableArticleError
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.staging import Staging


def test_folders_are_articles_and_files_are_not(root: Path) -> None:
    (root / "notes.log").write_text("not an article")
    (root / ".git").mkdir()
    assert Staging(UPath(root)).list_articles().article_ids == ("good",)


def test_a_folder_with_an_impossible_name_is_refused_with_the_reason(root: Path) -> None:
    (root / "a...b").mkdir()
    listing = Staging(UPath(root)).list_articles()
    assert listing.article_ids == ("good",)
    assert "range of partitions" in listing.refused["a...b"]


def test_an_empty_staging_folder_is_fine(tmp_path: Path) -> None:
    assert Staging(UPath(tmp_path)).list_articles().article_ids == ()


def test_a_missing_staging_folder_names_the_setting(tmp_path: Path) -> None:
    staging = Staging(UPath(tmp_path / "nowhere"))
    for look in (staging.list_articles, staging.scan):
        with pytest.raises(StorageError, match=r"cannot list the staging folder .*nowhere .*KB_STAGING"):
            look()


def test_an_article_without_index_html_says_so(root: Path) -> None:
    (root / "empty").mkdir()
    with pytest.raises(UnreadableArticleError, match=r"no index\.html"):
        Staging(UPath(root)).inventory("empty")


def test_an_article_that_is_gone_says_so(root: Path) -> None:
    with pytest.raises(UnreadableArticleError, match="deleted or renamed"):
        Staging(UPath(root)).inventory("vanished")


def test_a_staging_folder_says_the_same_wherever_it_is(any_root: UPath) -> None:
    staging = Staging(any_root)
    (any_root / "beside.log").write_text("not an article")
    add_below(any_root / "good" / "index.html")
    assert staging.list_articles().article_ids == ("good",)
    found = staging.inventory("good")
    assert [(file.name, file.size) for file in found.files] == [("img/a.image", 1), ("index.html", 11)]
    for file in found.files:
        assert sha256(staging.read("good", file.name, file.sha256)) == file.sha256
    with pytest.raises(UnreadableArticleError, match="deleted or renamed"):
        staging.inventory("vanished")
    with pytest.raises(StorageError, match=r"good/index\.html was changed while"):
        staging.read("good", "index.html", sha256(b"something else"))


@pytest.mark.parametrize("name", ["Metadata.json", "METADATA.JSON"])
def test_a_metadata_file_that_is_misspelt_is_refused_wherever_it_is(any_root: UPath, name: str) -> None:
    (any_root / "good" / name).write_text('{"access_control_list": ["hr"]}')
    with pytest.raises(UnreadableArticleError, match=f"{name} is a link or is not spelt"):
        Staging(any_root).inventory("good")


def test_the_content_hash_depends_on_names_and_bytes_alone(root: Path) -> None:
    staging = Staging(UPath(root))
    before = staging.inventory("good").content_hash
    (root / "good" / "index.html").touch()
    assert staging.inventory("good").content_hash == before
    (root / "good" / "a.image").write_bytes(b"x")
    assert staging.inventory("good").content_hash != before


def test_links_out_of_staging_are_neither_listed_nor_read(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "index.html").write_text("<p>secret</p>")
    (root / "linked").symlink_to(secret)
    (root / "good" / "stolen.image").symlink_to(secret / "index.html")
    (root / "good" / "folder").symlink_to(secret)
    staging = Staging(UPath(root))

    assert staging.list_articles().article_ids == ("good",)
    assert "leads out of the staging folder" in staging.list_articles().refused["linked"]
    assert [file.name for file in staging.inventory("good").files] == ["index.html"]
    with pytest.raises(UnreadableArticleError):
        staging.inventory("linked")


def test_files_in_sub_folders_keep_their_relative_names(root: Path) -> None:
    (root / "good" / "img").mkdir()
    (root / "good" / "img" / "a b.png").write_bytes(b"x")
    names = [file.name for file in Staging(UPath(root)).inventory("good").files]
    assert names == ["img/a b.png", "index.html"]


# --- the scan: what changed, without opening a file


@pytest.mark.parametrize("name", ["metadata.json", "Metadata.JSON"])
@pytest.mark.parametrize("kind", ["a folder", "a link that leads out"])
def test_metadata_that_is_refused_changes_the_signature_when_it_comes_and_when_it_goes(
    root: Path, tmp_path: Path, name: str, kind: str
) -> None:
    shared = tmp_path / "shared.json"
    shared.write_text('{"access_control_list": ["hr"]}')
    staging, path = Staging(UPath(root)), root / "good" / name
    before = staging.signature("good")
    path.mkdir() if kind == "a folder" else path.symlink_to(shared)
    during = staging.signature("good")
    assert during not in ("", before)
    assert staging.scan().signatures["good"] == during
    path.rmdir() if kind == "a folder" else path.unlink()
    assert staging.signature("good") == staging.scan().signatures["good"] == before


def test_other_folders_and_links_beside_the_files_do_not_count(root: Path, tmp_path: Path) -> None:
    staging = Staging(UPath(root))
    before = staging.signature("good")
    (root / "good" / "drafts").mkdir()
    (root / "good" / "elsewhere").symlink_to(tmp_path)
    assert staging.signature("good") == staging.scan().signatures["good"] == before


def test_an_unchanged_folder_has_an_unchanged_signature(any_root: UPath) -> None:
    first, second = Staging(any_root).scan(), Staging(any_root).scan()
    assert set(first.signatures) == {"good"}
    assert first == second
    assert first.fingerprint == second.fingerprint


def write(path: UPath) -> None:
    path.write_text("<p>longer text</p>")


def add(path: UPath) -> None:
    (path.parent / "a.image").write_bytes(b"x")


def add_below(path: UPath) -> None:
    (path.parent / "img").mkdir(exist_ok=True)
    (path.parent / "img" / "a.image").write_bytes(b"x")


@pytest.mark.parametrize("change", [write, add, add_below])
def test_a_changed_folder_has_another_signature(any_root: UPath, change) -> None:
    staging = Staging(any_root)
    before = staging.scan()
    change(any_root / "good" / "index.html")
    after = staging.scan()
    assert after.signatures["good"] != before.signatures["good"]
    assert after.fingerprint != before.fingerprint


def test_a_file_taken_away_or_touched_changes_the_signature(root: Path) -> None:
    image = root / "good" / "a.image"
    image.write_bytes(b"x")
    staging = Staging(UPath(root))
    signatures = {staging.signature("good")}
    os.utime(image, (1, 1))
    signatures.add(staging.signature("good"))
    image.rename(root / "good" / "b.image")
    signatures.add(staging.signature("good"))
    (root / "good" / "b.image").unlink()
    signatures.add(staging.signature("good"))
    assert len(signatures) == 4


def test_the_signature_of_one_article_is_the_scans(any_root: UPath) -> None:
    add_below(any_root / "good" / "index.html")
    staging = Staging(any_root)
    assert staging.signature("good") == staging.scan().signatures["good"]
    assert staging.signature("vanished") == ""


def test_files_that_belong_to_no_article_do_not_count(root: Path, tmp_path: Path) -> None:
    staging = Staging(UPath(root))
    before = staging.scan().signatures
    (root / "notes.log").write_text("beside the articles")
    (root / "good" / ".swp").write_text("hidden")
    (root / "good" / "index.html~").write_text("backup")
    (root / "good" / "stolen.image").symlink_to(tmp_path)
    assert staging.scan().signatures == before


def test_a_scan_opens_no_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("opened a file")

    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    assert Staging(UPath(root)).scan().signatures


def test_newest_is_when_the_last_file_arrived_even_if_it_is_dated_back(root: Path) -> None:
    image = root / "good" / "a.image"
    image.write_bytes(b"x")
    arrived = image.stat().st_ctime
    os.utime(image, (1, 1))
    assert Staging(UPath(root)).scan().newest["good"] >= arrived


def test_the_scan_refuses_what_the_list_refuses_and_folders_without_index_html(root: Path, tmp_path: Path) -> None:
    (root / ".git").mkdir()
    (root / "a...b").mkdir()
    (root / "empty").mkdir()
    (root / "linked").symlink_to(tmp_path)
    staging = Staging(UPath(root))
    scan, listing = staging.scan(), staging.list_articles()
    assert set(scan.signatures) == {"good"}
    assert scan.refused.items() >= listing.refused.items()
    assert "there is no index.html" in scan.refused["empty"]
    assert set(scan.refused) == {"a...b", "empty", "linked"}


def test_a_folder_that_may_not_be_read_is_refused_and_not_taken_for_gone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(folder: str, _: object) -> None:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr("kb_pipeline.store.staging.local_files", denied)
    assert Staging(UPath(root)).scan().refused == {
        "good": "good cannot be read (Permission denied); check the folder's permissions"
    }


def test_a_disk_that_breaks_amid_the_scan_is_not_taken_for_an_article(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(folder: str, _: object) -> None:
        raise OSError(116, "Stale file handle", folder)

    monkeypatch.setattr("kb_pipeline.store.staging.local_files", stale)
    with pytest.raises(StorageError, match="Stale file handle"):
        Staging(UPath(root)).scan()
