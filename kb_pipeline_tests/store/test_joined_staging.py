"""The authors' staging folder and folders beside it are read as one; an author's article hides another of its id."""

from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import StorageError, VanishedArticleError
from kb_pipeline.store.joined_staging import JoinedStaging
from kb_pipeline.store.staging import Staging


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "staging", tmp_path / "home/network/telco/articles"


@pytest.fixture
def staging(places: tuple[Path, Path]) -> JoinedStaging:
    authors, beside = places
    authors.mkdir()
    stage(authors, "shared", "of the author")
    stage(authors, "own", "of the author")
    stage(beside, "shared", "made")
    stage(beside, "made", "made")
    return JoinedStaging(UPath(authors), lambda: [beside] if beside.is_dir() else [])


def stage(root: Path, article_id: str, text: str) -> None:
    (root / article_id).mkdir(parents=True)
    (root / article_id / "index.html").write_text(text)
    (root / article_id / "metadata.json").write_text(f'{{"title": "{text}"}}')


def content(staging: Staging, article_id: str) -> bytes:
    article = staging.inventory(article_id)
    (main,) = [file for file in article.files if file.name == "index.html"]
    return staging.read(article_id, "index.html", main.sha256)


def test_both_are_listed_and_an_authors_article_hides_another_of_its_id(staging: JoinedStaging) -> None:
    assert staging.list_articles().article_ids == ("made", "own", "shared")
    assert content(staging, "shared") == b"of the author"
    assert content(staging, "made") == b"made"
    assert staging.metadata("made") == b'{"title": "made"}'
    assert staging.names("made") == {"index.html", "metadata.json"}


def test_a_scan_has_the_signatures_of_both_and_says_which_are_beside(staging: JoinedStaging) -> None:
    scan = staging.scan()
    assert scan.beside == {"made"}
    assert {key: staging.signature(key) for key in scan.signatures} == scan.signatures
    assert scan.signatures["shared"] == Staging(staging.root).signature("shared")
    assert scan.newest.keys() == scan.signatures.keys()


def test_paths_lead_to_where_the_article_lies(staging: JoinedStaging, places: tuple[Path, Path]) -> None:
    assert str(staging.path("made", "index.html")) == str(places[1] / "made/index.html")
    assert str(staging.path("own", "index.html")) == str(places[0] / "own/index.html")


def test_what_is_nowhere_has_vanished(staging: JoinedStaging) -> None:
    assert staging.signature("nothing") == ""
    assert staging.metadata("nothing") is None
    with pytest.raises(VanishedArticleError):
        staging.inventory("nothing")


def test_the_authors_folder_that_is_gone_is_an_error_although_there_are_others(
    staging: JoinedStaging, places: tuple[Path, Path]
) -> None:
    places[0].rename(places[0].with_name("away"))
    with pytest.raises(StorageError):
        staging.scan()
    with pytest.raises(StorageError):
        staging.list_articles()
