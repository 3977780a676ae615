"""A staging folder in a container: how often it is asked, and what hostile names do."""

import pytest
from upath import UPath

from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.staging import Staging
from kb_pipeline_tests.azurite import Containers


@pytest.fixture
def staging(root: UPath, containers: Containers) -> Staging:
    for article in ("one", "one-2", "two"):
        for name in ("index.html", "a.png", "b.png"):
            containers.staging.upload_blob(f"articles/{article}/{name}", f"{article} {name}")
    return Staging(root)


def test_all_articles_are_listed_or_scanned_with_one_request(staging: Staging, requests: list[str]) -> None:
    assert staging.list_articles().article_ids == ("one", "one-2", "two")
    assert requests == ["GET"]
    assert set(staging.scan().signatures) == {"one", "one-2", "two"}
    assert staging.signature("one") == staging.scan().signatures["one"]
    assert requests == ["GET"] * 4


def test_each_file_of_an_article_is_fetched_once(staging: Staging, requests: list[str]) -> None:
    files = staging.inventory("one").files
    assert requests == ["GET"] * (1 + len(files))
    for file in files:
        assert staging.read("one", file.name, file.sha256) == f"one {file.name}".encode()
    assert len(requests) == 1 + len(files)


def test_a_change_is_seen_without_the_file_being_fetched(staging: Staging, containers: Containers) -> None:
    before = staging.scan()
    containers.staging.upload_blob("articles/one/a.png", "ONE a.png", overwrite=True)
    after = staging.scan()
    assert {key for key in before.signatures if before.signatures[key] != after.signatures[key]} == {"one"}
    assert after.newest["one"] >= before.newest["one"]


@pytest.mark.parametrize("name", ["a?b.png", "a#b?c=d.png", "100%41.png", "img/ü ñ.png", "<x>'\".png"])
def test_files_with_odd_names_are_read(staging: Staging, containers: Containers, name: str) -> None:
    containers.staging.upload_blob(f"articles/one/{name}", b"odd")
    assert name in {file.name for file in staging.inventory("one").files}
    assert staging.read("one", name, sha256(b"odd")) == b"odd"


@pytest.mark.parametrize("name", [".hidden", "a.png~", "img//a.png", "./a.png", "img/../../two/index.html", "img/"])
def test_names_that_no_disk_could_have_belong_to_no_article(
    staging: Staging, containers: Containers, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK would make them another blob's on the way, so that they are put into the listing here."""
    walk = type(staging.root.fs).walk_blobs

    def with_name(files, path):
        blobs = list(walk(files, path))
        return [*blobs, blobs[0]._replace(name="one/" * path.endswith("articles") + name)]

    monkeypatch.setattr(type(staging.root.fs), "walk_blobs", with_name)
    assert {file.name for file in staging.inventory("one").files} == {"index.html", "a.png", "b.png"}
    assert set(staging.scan().signatures) == {"one", "one-2", "two"}


def test_folders_that_cannot_be_articles_are_refused(staging: Staging, containers: Containers) -> None:
    containers.staging.upload_blob("articles/a...b/index.html", b"x")
    containers.staging.upload_blob("articles/empty/a.png", b"x")
    containers.staging.upload_blob("articles/.git/config", b"x")
    assert set(staging.list_articles().refused) == {"a...b"}
    assert set(staging.scan().refused) == {"a...b", "empty"}
