"""The whole pipeline, wherever staging and serving are: the same test on local folders and on Blob Storage."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobLeaseClient

from app.callers.principal import Principal
from app.library.articles import ArticleNotFoundError, Articles
from app.library.images import ImageNotFoundError, open_image
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.serving_versions import is_served
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.files import names_in, read_bytes, remove_file, remove_folder, write_bytes
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.reconcile import compare, repair
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.trace import trace
from kb_pipeline.upkeep.verify import verify
from kb_pipeline_tests.azurite import Containers
from kb_pipeline_tests.conditions import errors, ingest
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.store.azure.writers import ingest_slowly

PAGE = "<body><h1>{0}</h1><p>The clock of a ticket {1} when it waits.</p><p>Look:</p><img src='a.image' alt='A'></body>"
HERE = {
    "engine": "kb_pipeline_tests.doubles:WorkersHere",
    "analyzer": "kb_pipeline_tests.doubles:GlancingAnalyzer",
}
ANYBODY, HR = Principal(), Principal("ann", ("ann", "group-hr"))


@pytest.fixture(params=["local", "azurite"])
def place(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    """Staging and serving in local folders, and the same on Blob Storage."""
    here = settings.model_copy(update=HERE)
    return request.getfixturevalue("containers").settings(here) if request.param == "azurite" else here


def stage(settings: Settings, article_id: str, verb: str, metadata: str = "") -> None:
    folder = Workspace(settings).staging.root / article_id
    write_bytes(folder / "index.html", PAGE.format(article_id, verb).encode())
    write_bytes(folder / "a.image", screenshot(f"{article_id} {verb}"))
    if metadata:
        write_bytes(folder / "metadata.json", metadata.encode())


def shown(settings: Settings, article_id: str, who: Principal = ANYBODY) -> tuple[str, bytes]:
    """What a reader sees of an article: its text, and its picture."""
    layout = Workspace(settings).layout
    image = open_image(layout, article_id, "images/a.png", who)
    data = b"".join(image.blocks())
    assert image.etag == f'"{sha256(data)}"'
    return Articles(layout).open(article_id, who, []).markdown, data


@pytest.mark.slow("asks Azurite")
def test_articles_go_from_staging_to_their_readers_and_away_again(place: Settings) -> None:
    for article_id in ("one", "two", "three"):
        stage(place, article_id, "stops")
    workspace = open_workspace(place)
    scan = workspace.staging.scan()
    assert errors(ingest(place)) == {}

    layout = workspace.layout
    assert names_in(layout.serving_root) == {"one", "two", "three"}
    assert names_in(layout.serving("one")) == {"article.md", "images", "manifest.json"}
    assert compare(workspace).is_good
    text, picture = shown(place, "one")
    assert "clock of a ticket stops" in text
    assert sha256(picture) == load_manifest(layout.serving("one")).images[0].sha256
    assert [article.summary.article_id for article in Articles(layout).all(ANYBODY)] == ["one", "three", "two"]
    (chunk, *_) = workspace.index.entries(["one"])["one"]
    assert trace(workspace, chunk).source_path.endswith("/one/index.html")
    assert not verify(open_workspace(place), "one").problems

    assert workspace.staging.scan().signatures == scan.signatures
    assert all(
        layer.reused
        for result in ingest(place, "run-2").values()
        for layer in result.layers
        if layer.name != "staged_article"
    )

    stage(place, "one", "rests")
    changed = workspace.staging.scan().signatures
    assert {key for key in changed if changed[key] != scan.signatures[key]} == {"one"}
    assert errors(ingest(place, "run-3")) == {}
    assert "clock of a ticket rests" in shown(place, "one")[0]
    assert shown(place, "one")[1] != picture
    assert "stops" in shown(place, "two")[0]

    remove_folder(workspace.staging.root / "two")
    remove_all(workspace, ["two"])
    assert names_in(layout.serving_root) == {"one", "three"}
    assert compare(workspace).is_good
    with pytest.raises(ImageNotFoundError):
        shown(place, "two")
    with pytest.raises(ArticleNotFoundError):
        Articles(layout).open("two", ANYBODY, [])


@pytest.mark.slow("asks Azurite")
def test_what_was_changed_behind_us_is_found_and_put_right(place: Settings) -> None:
    for article_id in ("one", "two", "three"):
        stage(place, article_id, "stops")
    assert errors(ingest(place)) == {}
    workspace = open_workspace(place)
    serving = workspace.layout.serving_root
    before = [shown(place, key) for key in ("one", "two", "three")]

    remove_file(serving / "one" / "images" / "a.png")
    write_bytes(serving / "two" / "article.md", b"somebody else's words")
    remove_folder(serving / "three")
    write_bytes(serving / "stranger" / "article.md", b"left behind")
    assert compare(workspace).orphaned == ("stranger",)
    assert "is not what was published" in verify(open_workspace(place), "two").problems[0]
    repairs = repair(workspace)
    assert set(repairs.restored) == {"one", "two", "three"}
    assert repairs.removed == ("stranger",)
    assert [shown(place, key) for key in ("one", "two", "three")] == before
    assert compare(workspace).is_good
    assert names_in(serving) == {"one", "two", "three"}

    write_bytes(serving / "one" / "images" / "a.png", screenshot("damaged"))
    assert verify(open_workspace(place), "one").problems
    repair(workspace, suspects=["one"])
    assert [shown(place, key) for key in ("one", "two", "three")] == before


def test_a_restricted_article_is_there_for_those_who_are_named(place: Settings) -> None:
    stage(place, "one", "stops")
    assert errors(ingest(place)) == {}
    shown(place, "one")
    stage(place, "one", "stops", '{"access_control_list": ["group-hr"]}')
    assert errors(ingest(place, "run-2")) == {}
    for path in ("images/a.png", "images/../manifest.json", "images/%2e%2e/manifest.json"):
        with pytest.raises(ImageNotFoundError):
            open_image(Workspace(place).layout, "one", path, ANYBODY)
    with pytest.raises(ArticleNotFoundError):
        Articles(Workspace(place).layout).open("one", ANYBODY, [])
    assert "stops" in shown(place, "one", HR)[0]


# --- killed in between, and two at once


@pytest.fixture
def cloud(containers: Containers, settings: Settings) -> Settings:
    return containers.settings(settings.model_copy(update=HERE))


def whole_version(settings: Settings, article_id: str) -> str | None:
    """The version whose every file is before readers, if there is one."""
    workspace = Workspace(settings)
    versions = {known.id for known in load_state(workspace.layout, article_id).published}
    return next((version for version in versions if is_served(workspace.layout, article_id, version)), None)


@pytest.mark.rare("kills, and machines at once")
@pytest.mark.parametrize("writes", [1, 3, 4])
def test_a_process_killed_amid_the_files_leaves_what_the_next_run_completes(
    cloud: Settings, containers: Containers, writes: int
) -> None:
    """What is written: the marker (of which the lease is then taken), an image, the text, the manifest."""
    stage(cloud, "page", "stops")
    assert errors(ingest(cloud)) == {}
    stage(cloud, "page", "rests")
    command = [sys.executable, "-m", "kb_pipeline_tests.store.azure.writers", str(writes)]
    assert subprocess.run(command, env=environment(cloud), check=False).returncode == -signal.SIGKILL
    assert ".unfinished" in names_in(Workspace(cloud).layout.serving("page"))
    assert whole_version(cloud, "page") is None

    # what happens by itself half a minute after its holder's death
    with suppress(ResourceExistsError):  # it was killed before it had one
        BlobLeaseClient(containers.serving.get_blob_client("kb/page/.unfinished")).break_lease(0)
    assert errors(ingest(cloud, "run-3")) == {}
    assert "rests" in shown(cloud, "page")[0]
    assert whole_version(cloud, "page")
    assert not verify(open_workspace(cloud), "page").problems
    assert compare(Workspace(cloud)).is_good


def environment(settings: Settings) -> dict[str, str]:
    names = ("staging", "home", "serving", "analyzer", "embedder", "chunk_min_tokens", "engine")
    ours = {f"KB_{name}".upper(): str(getattr(settings, name)) for name in names}
    secrets = {
        f"KB_{role}_CONNECTION_STRING": getattr(settings, f"{role.lower()}_connection_string").get_secret_value()
        for role in ("STAGING", "SERVING")
    }
    return {**os.environ, **ours, **secrets}


@pytest.fixture
def machines(cloud: Settings, tmp_path: Path) -> list[Settings]:
    """Two that share the readers' files, but neither a home folder nor its locks."""
    homes = {name: str(tmp_path / name) for name in ("left", "right")}
    return [
        cloud.model_copy(update={"home": home, "staging": f"{cloud.staging}-{name}"}) for name, home in homes.items()
    ]


@pytest.fixture
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        yield processes


@pytest.mark.rare("kills, and machines at once")
def test_two_machines_on_one_article_never_mix_their_versions(
    machines: list[Settings], pool: ProcessPoolExecutor
) -> None:
    for number in range(2):
        for machine in machines:
            stage(machine, "page", f"{Path(machine.home).name}-{number}")
        both = [
            pool.submit(ingest_slowly, machine, f"run-{number}", 2 * number + each)
            for each, machine in enumerate(machines)
        ]
        failed = [future.result(120).get("page", "") for future in both]
        assert all("somebody else" in problem for problem in failed if problem), failed
        assert not all(failed)
        winners = [machine for machine in machines if whole_version(machine, "page")]
        assert len(winners) == 1
        text, picture = shown(winners[0], "page")
        assert f"{Path(winners[0].home).name}-{number}" in text
        assert sha256(picture) == load_manifest(Workspace(winners[0]).layout.serving("page")).images[0].sha256


@pytest.mark.slow("asks Azurite")
def test_the_original_of_a_document_goes_with_it(place: Settings) -> None:
    workspace = open_workspace(place)
    folder, served = workspace.staging.root / "faq", workspace.layout.serving("faq")
    write_bytes(folder / "faq.md", b"# Questions\n\nThe clock of a ticket stops when it waits.\n")
    assert errors(ingest(place)) == {}
    assert names_in(served / "document") == {"faq.md"}
    assert is_served(workspace.layout, "faq", load_state(workspace.layout, "faq").published_version or "")

    remove_file(served / "document" / "faq.md")
    assert verify(open_workspace(place), "faq").problems
    assert repair(workspace).restored == ("faq",)
    assert read_bytes(served / "document" / "faq.md").startswith(b"# Questions")

    remove_file(folder / "faq.md")
    write_bytes(folder / "new name.md", b"# Questions\n\nThe clock of a ticket rests when it waits.\n")
    assert errors(ingest(place, "run-2")) == {}
    assert names_in(served / "document") == {"new name.md"}
    remove_folder(folder)
    remove_all(workspace, ["faq"])
    assert names_in(workspace.layout.serving_root) == set()
