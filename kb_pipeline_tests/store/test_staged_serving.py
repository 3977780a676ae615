"""A staging folder of articles that another program made: what is an article in it, and who may read it."""

import json
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import UnreadableArticleError, VanishedArticleError
from kb_pipeline.flow.access import staged_access
from kb_pipeline.records import HIDDEN
from kb_pipeline.store.staged_serving import StagedServing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "foreign"
    (root / "good" / "images").mkdir(parents=True)
    (root / "good" / "article.md").write_text("# Good")
    (root / "good" / "images" / "a.png").write_bytes(b"png")
    return root


@pytest.fixture
def staging(folder: Path) -> StagedServing:
    return StagedServing(UPath(folder))


def test_folders_with_a_text_are_articles_and_others_are_named(folder: Path, staging: StagedServing) -> None:
    (folder / "page").mkdir()
    (folder / "page" / "index.html").write_text("<p>a source</p>")
    (folder / "bad...id").mkdir()
    (folder / "out").symlink_to("/etc")
    (folder / "report.pdf").write_bytes(b"%PDF-1.7")
    (folder / "index.json").write_text("{}")
    scan = staging.scan()
    assert scan.signatures.keys() == {"good"}
    assert scan.refused.keys() == {"page", "bad...id", "out"}
    assert scan.refused["page"].startswith("page: there is no article.md")
    assert staging.list_articles().article_ids == ("good", "page")
    with pytest.raises(UnreadableArticleError, match=r"page: there is no article\.md"):
        staging.inventory("page")


def test_the_inventory_has_every_file_and_changes_with_each(folder: Path, staging: StagedServing) -> None:
    before = staging.inventory("good")
    assert (before.main, [file.name for file in before.files]) == ("article.md", ["article.md", "images/a.png"])
    (folder / "good" / "images" / "a.png").write_bytes(b"another")
    assert staging.inventory("good").content_hash != before.content_hash


def test_an_id_with_the_name_of_a_document_is_a_folder_too(folder: Path, staging: StagedServing) -> None:
    (folder / "good").rename(folder / "manual.pdf")
    assert staging.inventory("manual.pdf").main == "article.md"
    with pytest.raises(VanishedArticleError, match="no folder"):
        staging.inventory("gone.pdf")


def test_files_that_lead_out_of_the_folder_are_not_there(folder: Path, staging: StagedServing) -> None:
    (folder / "good" / "images" / "secret.png").symlink_to("/etc/passwd")
    assert [file.name for file in staging.inventory("good").files] == ["article.md", "images/a.png"]


def test_the_manifest_says_who_may_read_it(folder: Path, staging: StagedServing) -> None:
    (folder / "good" / "manifest.json").write_text(json.dumps({"access_control_list": ["support"]}))
    access = staged_access(staging, "good")
    assert access
    assert access.readers == ("support",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", '{"access_control_list": "support"}'),
        ("manifest.json", "{"),
        ("Manifest.json", '{"access_control_list": ["support"]}'),
        ("metadata.json", '{"access_control_list": ["support"]}'),
    ],
)
def test_a_list_that_would_not_be_read_hides_the_article(
    folder: Path, staging: StagedServing, name: str, content: str
) -> None:
    (folder / "good" / name).write_text(content)
    access = staged_access(staging, "good")
    assert access
    assert access.readers == (HIDDEN,)
    assert "manifest.json" in access.problem


def test_without_a_manifest_everybody_may_read_it(staging: StagedServing) -> None:
    access = staged_access(staging, "good")
    assert access
    assert access.readers == ()
