"""Publishing: readers see a version that passed every gate, as a whole, or go on seeing the one before."""

import random
import shutil
import subprocess
import sys
import time

import pytest

from kb_pipeline.errors import SearchError, StorageError
from kb_pipeline.flow import serving_versions
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests import processes
from kb_pipeline_tests.conftest import Article, Build, Ledger
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.served import article_text, assert_consistent, before_readers, serving_files, state_of

PAGE = "<body><h1>Clock</h1><p>The clock of a ticket stops when it waits for the customer.</p>{}</body>"
IMAGE = "<p>Look:</p><img src='{}.image' alt='The clock'>"
TABLE = "<table><tr><th>State</th><th>Clock</th></tr><tr><td>open</td><td>runs</td></tr></table>"
LOSSY = "kb_pipeline_tests.doubles:LossyAnalyzer"
PAID = "kb_pipeline_tests.doubles:PaidAnalyzer"


# --- the gates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "mended", "said"),
    [
        (TABLE, "<ul><li>open: runs</li></ul>", "structure_is_preserved: 1 of 1 table lost"),
        (IMAGE.format("lost"), IMAGE.format("kept"), "images_are_placed: 1 image"),
    ],
    ids=["table", "image"],
)
def test_a_version_that_lost_something_is_not_published_until_its_source_is_mended(
    article: Article,
    build_here: Build,
    settings: Settings,
    ledger: Ledger,
    broken: str,
    mended: str,
    said: str,
) -> None:
    shown = IMAGE.format("shown")
    files = {f"{name}.image": screenshot(name) for name in ("shown", "lost", "kept")}
    article("page", PAGE.format(shown), files)
    assert build_here(analyzer=LOSSY)["page"].error is None
    before = before_readers(settings, "page")

    article("page", PAGE.format(shown + broken))
    for attempt in (1, 2, 3):
        result = build_here(analyzer=LOSSY, run_id=f"run-{attempt + 1}")["page"]
        failure = state_of(settings, "page").failure
        assert failure is not None
        assert result.failed_layer == failure.layer == "converted_markdown"
        assert result.error == failure.error
        assert failure.error.startswith(f"page: not published, because {said}")
        assert failure.error.endswith("; its last good version stays published")
        assert ".;" not in failure.error
        assert (failure.attempts, failure.transient) == (attempt, False)
        assert (failure.run_id, failure.first_at) == (f"run-{attempt + 1}", "2026-01-01T00:00:00+00:00")
        assert before_readers(settings, "page") == before
        assert len(ledger()) == 1

    article("page", PAGE.format(shown + mended))
    assert build_here(analyzer=LOSSY)["page"].error is None
    assert state_of(settings, "page").failure is None
    assert before_readers(settings, "page") != before
    assert_consistent(settings, "page")


def test_a_first_version_that_fails_a_check_shows_readers_nothing(
    article: Article, build_here: Build, settings: Settings
) -> None:
    article("page", PAGE.format(TABLE))
    assert "not published" in (build_here(analyzer=LOSSY)["page"].error or "")
    assert serving_files(settings, "page") == {}
    assert Workspace(settings).index.count() == 0


def test_layers_built_one_by_one_do_not_get_past_a_failed_check(
    article: Article, build_here: Build, settings: Settings
) -> None:
    article("page", PAGE.format(""))
    build_here(analyzer=LOSSY)
    before = before_readers(settings, "page")
    article("page", PAGE.format(TABLE))
    for name in LAYER_NAMES:
        result = build_here(analyzer=LOSSY, layers=(name,))["page"]
    assert "structure_is_preserved" in (result.error or "")
    assert before_readers(settings, "page") == before


def test_a_check_that_is_made_advisory_lets_the_version_through_and_stays_failed(
    article: Article, build_here: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("page", PAGE.format(TABLE))
    assert build_here(analyzer=LOSSY)["page"].error is not None
    monkeypatch.setenv("KB_ADVISORY_CHECKS", '["structure_is_preserved"]')
    result = build_here(analyzer=LOSSY, advisory_checks=load_settings().advisory_checks)["page"]
    assert result.error is None
    converted = next(layer for layer in result.layers if layer.name == "converted_markdown")
    assert converted.reused
    assert converted.report["tables"] == 1, "what was told of it when it was made"
    failed = state_of(settings, "page").layers["converted_markdown"].failed_checks
    assert [check.name for check in failed] == ["structure_is_preserved"]
    assert state_of(settings, "page").failure is None
    assert_consistent(settings, "page")


# --- the index or the disk refuses ---------------------------------------------------------------


@pytest.fixture
def edited(article: Article, build_here: Build) -> None:
    """A published article whose source says something else by now, in its words and its picture."""
    article("page", PAGE.format(IMAGE.format("clock")), {"clock.image": screenshot("Before")})
    build_here()
    article("page", PAGE.format(IMAGE.format("clock")).replace("stops", "rests"), {"clock.image": screenshot("After")})


@pytest.mark.parametrize("error", [SearchError("the index refuses"), ValueError("a defect"), KeyboardInterrupt()])
def test_what_the_index_refuses_is_not_served_either(
    edited: None, build_here: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before = before_readers(settings, "page")

    def refuse(*_: object) -> None:
        assert "rests" in article_text(settings, "page")
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(LanceDBIndex, "publish", refuse)
        if isinstance(error, Exception):
            assert build_here()["page"].failed_layer == "search_index"
        else:
            with pytest.raises(type(error)):
                build_here()
    assert before_readers(settings, "page") == before
    assert build_here()["page"].error is None
    assert "rests" in article_text(settings, "page")
    assert_consistent(settings, "page")


def test_a_first_version_that_the_index_refuses_is_not_served(
    article: Article, build_here: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SearchError("the index refuses")

    monkeypatch.setattr(LanceDBIndex, "publish", refuse)
    article("page", PAGE.format(""))
    assert build_here()["page"].transient
    assert serving_files(settings, "page") == {}


@pytest.mark.parametrize("files_written", range(5))
def test_a_disk_that_is_full_amid_the_serving_files_leaves_the_version_before(
    edited: None, build_here: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch, files_written: int
) -> None:
    before = before_readers(settings, "page")
    left = files_written

    def filling_up(name: str) -> None:
        write = getattr(serving_versions, name)

        def full(*arguments: object) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise StorageError("cannot write: No space left on device")
            write(*arguments)

        monkeypatch.setattr(serving_versions, name, full)

    with monkeypatch.context() as monkeypatch:
        filling_up("write_bytes")
        filling_up("copy_file")
        failed = build_here()["page"].error is not None
    assert failed == (files_written < 4)
    if failed:
        assert before_readers(settings, "page") == before
    assert_consistent(settings, "page")
    assert build_here()["page"].error is None
    assert "rests" in article_text(settings, "page")


def test_files_of_somebody_else_beside_the_versions_are_left_alone(
    edited: None, build_here: Build, settings: Settings
) -> None:
    (Layout.of(settings).versions("page") / ".DS_Store").write_bytes(b"x")
    assert build_here(keep_versions=1)["page"].error is None
    assert (Layout.of(settings).versions("page") / ".DS_Store").is_file()


# --- killed in between ---------------------------------------------------------------------------


@pytest.mark.slow("starts processes and kills them")
@pytest.mark.parametrize(
    "step",
    [
        *("the files were placed", "the index was committed"),
        *(
            pytest.param(step, marks=pytest.mark.rare("kills"))
            for step in ("an image was copied", "old files were tidied up", "the state was saved")
        ),
    ],
)
def test_a_process_killed_during_publication_leaves_what_a_plain_rebuild_completes(
    article: Article, build_here: Build, settings: Settings, ledger: Ledger, step: str
) -> None:
    old = PAGE.format(IMAGE.format("clock")), {"clock.image": screenshot("Before")}
    new = old[0].replace("stops", "rests"), {"clock.image": screenshot("After")}
    article("page", *old)
    build_here(analyzer=PAID)
    before = before_readers(settings, "page")
    article("page", *new)
    command = [sys.executable, "-m", "kb_pipeline_tests.processes", settings.staging, settings.home, PAID, step]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == processes.KILLED, killed.stderr
    other = settings.model_copy(update={"home": shutil.copytree(settings.home, f"{settings.home}-2")})

    assert build_here(analyzer=PAID)["page"].error is None
    assert "rests" in article_text(settings, "page")
    assert_consistent(settings, "page")

    article("page", *old)
    assert build_here(analyzer=PAID, home=other.home)["page"].error is None
    assert before_readers(other, "page") == before, "the source was changed back meanwhile"
    assert_consistent(other, "page")
    assert len(ledger()) == len(set(ledger())) == 2, "nothing is paid twice"


# --- two at once ---------------------------------------------------------------------------------


@pytest.mark.rare("two processes")
def test_two_processes_on_one_changing_article_never_mix_its_versions(
    article: Article, build_here: Build, settings: Settings, ledger: Ledger
) -> None:
    def stage(number: int) -> None:
        html = PAGE.format(IMAGE.format("clock")).replace("stops", f"stops-{number}-")
        article("page", html, {"clock.image": screenshot(str(number))})

    paid, dice = settings.model_copy(update={"analyzer": PAID}), random.Random(7)
    stage(0)
    build_here(analyzer=PAID)
    with processes.at_once(2) as pool:
        for number in range(1, 9, 2):
            both = []
            for each in (number, number + 1):
                stage(each)
                both.append(pool.submit(processes.dawdle_and_publish, paid, f"run-{each}", dice.randrange(9999)))
                time.sleep(dice.uniform(0.02, 0.12))
            for future in both:
                future.result()
            assert_consistent(settings, "page")
            assert any(f"stops-{each}-" in article_text(settings, "page") for each in range(number - 1, number + 2))
            assert build_here(analyzer=PAID)["page"].error is None
            assert f"stops-{number + 1}-" in article_text(settings, "page")
            assert_consistent(settings, "page")
            assert state_of(settings, "page").failure is None
    assert len(ledger()) == len(set(ledger()))
