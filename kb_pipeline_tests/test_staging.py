"""The staging folder belongs to the authors: it is read, and nothing in it is trusted."""

from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import SettingsError, UnreadableArticleError
from kb_pipeline.staging import Staging


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "staging" / "good").mkdir(parents=True)
    (tmp_path / "staging" / "good" / "index.html").write_text("<p>text</p>")
    return tmp_path / "staging"


def test_folders_are_articles_and_files_are_not(root: Path) -> None:
    (root / "notes.txt").write_text("not an article")
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
    with pytest.raises(SettingsError, match="KB_STAGING"):
        Staging(UPath(tmp_path / "nowhere")).list_articles()


def test_an_article_without_index_html_says_so(root: Path) -> None:
    (root / "empty").mkdir()
    with pytest.raises(UnreadableArticleError, match=r"no index\.html"):
        Staging(UPath(root)).inventory("empty")


def test_an_article_that_is_gone_says_so(root: Path) -> None:
    with pytest.raises(UnreadableArticleError, match="deleted or renamed"):
        Staging(UPath(root)).inventory("vanished")


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
