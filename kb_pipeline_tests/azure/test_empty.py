"""``kb empty`` on Azure: containers, indexes and analyzers are emptied of ours, and all of it can be made again."""

import pytest
from azure.storage.blob import ContainerClient

from kb_pipeline_tests.azure.test_end_to_end import blobs
from kb_pipeline_tests.azurite import Containers
from kb_pipeline_tests.building import page
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.search_service.running import RunningService

pytestmark = [pytest.mark.slow("whole runs against the services' doubles")]

ARTICLES = ("editor", "profile")


def stage(container: ContainerClient) -> None:
    """Two small articles, one of them with a picture."""
    pictured = page("profile") + "<p>Look:</p><img src='menu.image' alt='The profile menu'>"
    container.upload_blob("articles/editor/index.html", page("editor").encode())
    container.upload_blob("articles/profile/index.html", pictured.encode())
    container.upload_blob("articles/profile/menu.image", screenshot("Save changes"))


@pytest.mark.slow("whole runs against the services' doubles")
@pytest.mark.parametrize(
    "on_azure", ["local", pytest.param("content-understanding", marks=pytest.mark.rare("as the first"))], indirect=True
)
def test_an_environment_is_emptied_and_made_again(
    on_azure: None, containers: Containers, fake: RunningService, run: Run
) -> None:
    stage(containers.staging)
    containers.serving.upload_blob("kb/theirs/notes.txt", b"of somebody else")
    theirs = {"name": "theirs", "fields": [{"name": "id", "type": "Edm.String", "key": True}]}
    fake.service.put("indexes", "theirs", theirs, None, None)
    staged = blobs(containers.staging)
    assert run("ingest").code == 0
    assert len(fake.service.indexes) == 2

    said = run("empty", "--yes", "--json")
    assert said.code == 0, said.words
    found = {part["name"]: part["items"] for part in said.json["parts"]}
    assert found["serving articles"] == sorted(ARTICLES)
    assert found["search index"][0] == "kb-articles"
    assert (list(fake.service.indexes), list(fake.service.aliases)) == (["theirs"], [])
    assert blobs(containers.serving) == {"kb/theirs/notes.txt"}
    assert blobs(containers.staging) == staged

    if "analyzers of Content Understanding" in found:
        assert found["analyzers of Content Understanding"]
        assert run("analyzers", "status").code == 1
        assert run("analyzers", "deploy").code == 0
    again = run("ingest")
    assert "2 articles published (0 unchanged)" in again.words, again.words


@pytest.mark.slow("whole runs against the services' doubles")
@pytest.mark.parametrize("on_azure", ["local"], indirect=True)
def test_a_service_that_refuses_is_named_and_the_others_are_emptied(
    on_azure: None, containers: Containers, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(containers.staging)
    assert run("ingest").code == 0
    monkeypatch.setenv("KB_SEARCH_API_KEY", "wrong")
    said = run("empty", "--yes", "--json")
    assert said.code == 1
    errors = {part["name"]: part["error"] for part in said.json["parts"] if part["error"]}
    assert list(errors) == ["search index"]
    assert "KB_SEARCH_API_KEY" in errors["search index"]
    assert blobs(containers.serving) == set()
