"""The world around an ingest goes wrong: nothing is lost, nobody reads half of anything, another run puts it right."""

import itertools
import os
import shutil
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from upath import UPath

from benchmarks.soundness import problems
from benchmarks.stack import Stack
from kb_pipeline import definitions
from kb_pipeline.defs import sensors
from kb_pipeline.errors import SettingsError, StorageError
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import Staging
from kb_pipeline.store.state import known_articles
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline_tests import conditions
from kb_pipeline_tests.building import page
from kb_pipeline_tests.cli.conftest import Run, own_environment, run
from kb_pipeline_tests.conditions import errors, fill, ingest, kb, make_room, said, start_ingest, wait_until
from kb_pipeline_tests.served import article_text, assert_consistent, state_of

__all__ = ["own_environment", "run"]
NAMES = [f"article-{number:02}" for number in range(60)]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Everything is built in one process, in batches of five."""
    here = {"engine": "kb_pipeline_tests.doubles:WorkersHere", "publish_every": 5, "settle_seconds": 0.0}
    Path(settings.home).mkdir()
    return settings.model_copy(update=here)


def stage(settings: Settings, *names: str, words: str = "first words") -> None:
    for name in names:
        folder = Path(settings.staging) / name
        folder.mkdir(exist_ok=True)
        (folder / "index.html").write_text(page(name, words))


def assert_all_good(settings: Settings, *names: str, words: str = "first words") -> None:
    """Exactly these articles are served and indexed, and say these words."""
    state = compare(Workspace(settings))
    assert state.is_good, state.summary()
    assert set(known_articles(Layout.of(settings))) == set(names)
    for name in names:
        assert_consistent(settings, name)
        assert f"Some {words} about {name}" in article_text(settings, name)


# --- the sensor, as the daemon evaluates it ------------------------------------------------------


class Watch:
    """Looks at the staging folder and does what is requested, at a time of our own."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.instance, self.cursor = settings, dg.DagsterInstance.ephemeral(), ""
        self.ahead = 60.0  # what a test has just written counts as settled

    def time(self) -> float:
        return time.time() + self.ahead

    def tick(self) -> dg.SensorResult:
        with dg.build_sensor_context(self.instance, cursor=self.cursor) as context:
            result = sensors.tick(context, open_workspace(self.settings))
        self.cursor = result.cursor or ""
        for new in result.dynamic_partitions_requests or []:
            self.instance.add_dynamic_partitions(new.partitions_def_name, list(new.partition_keys))
        return result

    def work(self) -> list[str]:
        """One look, and what it asks for; returns names of the jobs."""
        requests = self.tick().run_requests or []
        for request in requests:
            self.run(request.job_name or "", run_config=request.run_config, tags=dict(request.tags))
        return [request.job_name or "" for request in requests]

    def run(self, job: str, **options: Any) -> dg.ExecuteInProcessResult:
        definition = definitions.defs().get_job_def(job)
        return definition.execute_in_process(instance=self.instance, raise_on_error=False, **options)


@pytest.fixture
def watch(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Watch:
    for name in ("staging", "home", "embedder", "engine", "chunk_min_tokens"):
        monkeypatch.setenv(f"KB_{name}".upper(), str(getattr(settings, name)))
    watch = Watch(settings)
    monkeypatch.setattr(sensors, "time", watch)
    return watch


# --- the staging store ---------------------------------------------------------------------------


@pytest.mark.rare("a bad condition that takes whole ingests")
def test_a_staging_store_that_vanishes_mid_run_takes_nothing_with_it(
    settings: Settings, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_ANALYZER", conditions.SLOW)
    settings = watch.settings = settings.model_copy(update={"analyzer": conditions.SLOW})
    stage(settings, *NAMES)
    assert not errors(ingest(settings))
    stage(settings, *NAMES, words="second words")
    converted = [Layout.of(settings).converted(name) / "article.md" for name in NAMES]
    going_on = start_ingest(settings)
    wait_until(lambda: sum("second words" in path.read_text() for path in converted) > 10)
    away = Path(settings.staging).rename(f"{settings.staging}-away")

    failed = going_on.failures()
    assert 0 < len(failed) < len(NAMES)
    told = ("was the article deleted or renamed?", "check the staging folder", "or set KB_STAGING")
    assert all(any(words in reason for words in told) for reason in failed.values())
    for name in NAMES:
        assert_consistent(settings, name)
        assert f"Some {'first' if name in failed else 'second'} words about {name}" in article_text(settings, name)
    with pytest.raises(StorageError, match="cannot list the staging folder"):
        watch.tick()
    assert set(known_articles(Layout.of(settings))) == set(NAMES)

    away.rename(settings.staging)
    assert watch.work() == ["ingest_articles"]
    watch.ahead += 3600  # what was being read as it vanished is as it was, and waits for its next try
    watch.work()
    assert watch.tick().skip_reason == dg.SkipReason("60 articles unchanged")
    assert_all_good(settings, *NAMES, words="second words")


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_a_half_synchronised_store_removes_nothing_and_says_how_to_confirm(settings: Settings, watch: Watch) -> None:
    names, missing = NAMES[:12], NAMES[:11]
    stage(settings, *names)
    watch.work()
    away = Path(settings.staging).with_name("away")
    away.mkdir()
    for name in missing:
        (Path(settings.staging) / name).rename(away / name)
    for _ in range(3):
        result = watch.tick()
        assert not result.run_requests
        assert "11 of 12 articles are missing" in str(result.skip_reason)
        watch.ahead += 2 * settings.delete_grace_seconds
    assert not watch.run("remove_articles").success
    for name in missing:
        (away / name).rename(Path(settings.staging) / name)
    assert watch.tick().skip_reason == dg.SkipReason("12 articles unchanged")
    assert_all_good(settings, *names)


# --- permissions ---------------------------------------------------------------------------------


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_what_may_not_be_read_fails_alone_until_it_may(settings: Settings) -> None:
    stage(settings, "good", "folder", "file")
    locked = [Path(settings.staging) / "folder", Path(settings.staging) / "file" / "index.html"]
    for path in locked:
        path.chmod(0)
    failed = start_ingest(settings, plain_user=True).failures()
    assert set(failed) == {"folder", "file"}
    for reason in failed.values():
        assert "Permission denied" in reason
        assert "check the staging folder's permissions" in reason
    assert "Some first words about good" in article_text(settings, "good")
    for path in locked:
        path.chmod(0o755)
    assert not errors(ingest(settings))
    assert_all_good(settings, "good", "folder", "file")


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    ("locked", "mode", "told"),
    [
        ("home", 0o500, "home/dagster (Permission denied); set KB_HOME to a writable folder"),
        ("staging", 0o300, "staging (Permission denied); check that it can be reached, or set KB_STAGING"),
    ],
)
def test_a_folder_that_may_not_be_used_is_told_of_before_anything_starts(
    settings: Settings, locked: str, mode: int, told: str
) -> None:
    stage(settings, "page")
    Path(getattr(settings, locked)).chmod(mode)
    code, words = said(kb(settings, "ingest", plain_user=True))
    Path(getattr(settings, locked)).chmod(0o755)
    assert code == 2
    assert told in words
    assert "Traceback" not in words


@pytest.mark.rare("a bad condition that takes whole ingests")
def test_a_serving_folder_that_may_not_be_written_keeps_what_it_shows(settings: Settings) -> None:
    serving = Path(settings.home).with_name("serving")
    serving.mkdir(0o555)
    settings = settings.model_copy(update={"serving": str(serving)})
    stage(settings, "page")
    assert "Permission denied" in start_ingest(settings, plain_user=True).failures()["page"]
    assert Workspace(settings).index.entries() == {}, "nothing is found that is not served"
    serving.chmod(0o755)
    assert not errors(ingest(settings))
    stage(settings, "page", words="second words")
    (serving / "page").chmod(0o555)
    assert f"{serving}/page" in start_ingest(settings, plain_user=True).failures()["page"]
    assert_all_good(settings, "page")
    (serving / "page").chmod(0o755)
    assert not errors(ingest(settings))
    assert_all_good(settings, "page", words="second words")


# --- the disk is full ----------------------------------------------------------------------------


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_on_a_full_disk_readers_keep_a_whole_version_and_room_is_all_it_needs(settings: Settings) -> None:
    names = NAMES[:8]
    with conditions.small_disk(Path(settings.home) / "disk", megabytes=8) as disk:
        settings = settings.model_copy(update={"home": str(disk / "home")})
        stage(settings, *names)
        assert not errors(ingest(settings))
        seen: set[str | None] = set()
        for attempt, kilobytes in enumerate((0, 16, 40, 120, 200, 220, 260, 300)):
            stage(settings, *names, words=f"words of attempt {attempt}")
            fill(disk, but=kilobytes * 1024)
            results = ingest(settings, f"run-{attempt}")
            for name in names:
                assert_consistent(settings, name)
            for reason in errors(results).values():
                assert "its disk is full: make room on it, then run this again" in reason
                assert "defect" not in reason
            seen |= {result.failed_layer for result in results.values()}
            make_room(disk)
        assert seen >= {"staged_article", "search_index"}, "full at the beginning, and at the end"
        assert not errors(ingest(settings))
        assert_all_good(settings, *names, words=f"words of attempt {attempt}")


@pytest.mark.rare("a bad condition that takes whole ingests")
def test_a_full_disk_below_dagster_is_a_sentence_and_no_obstacle_afterwards(settings: Settings) -> None:
    with conditions.small_disk(Path(settings.home) / "disk", megabytes=8) as disk:
        settings = settings.model_copy(update={"home": str(disk / "home")})
        stage(settings, "page")
        for kilobytes in (100, 600):
            fill(disk, but=kilobytes * 1024)
            code, words = said(kb(settings, "ingest"))
            assert code == 2
            assert "full" in words
            assert "Traceback" not in words
        make_room(disk)
        assert said(kb(settings, "ingest"))[0] == 0
        assert_all_good(settings, "page")


# --- time ----------------------------------------------------------------------------------------

DAY = 86_400.0


def test_a_clock_that_goes_backwards_neither_repeats_work_nor_removes_early(settings: Settings, watch: Watch) -> None:
    stage(settings, "stays", "goes")
    assert watch.work() == ["ingest_articles"]
    for step in (-DAY, -DAY, +DAY / 2, -30 * DAY):
        watch.ahead += step
        assert watch.work() == []
    shutil.rmtree(Path(settings.staging) / "goes")
    for step in (0.0, -DAY, settings.delete_grace_seconds / 2):
        watch.ahead += step
        assert watch.work() == [], "the grace period is not over on any clock"
    watch.ahead += settings.delete_grace_seconds / 2
    assert watch.work() == ["remove_articles"]
    assert watch.work() == []
    assert_all_good(settings, "stays")


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_files_from_the_future_are_ingested_once(settings: Settings, watch: Watch) -> None:
    stage(settings, "early")
    settings = watch.settings = settings.model_copy(update={"settle_seconds": 5.0})
    os.utime(Path(settings.staging) / "early" / "index.html", (watch.time() + 9 * DAY,) * 2)
    assert [watch.work() for _ in range(4)] == [[], ["ingest_articles"], [], []]
    assert_all_good(settings, "early")
    stage(settings, "early", words="second words")  # dated back: by its time, the older one
    assert sum(map(len, (watch.work() for _ in range(4)))) == 1
    assert_all_good(settings, "early", words="second words")


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_a_failure_from_the_future_is_tried_again(settings: Settings, watch: Watch) -> None:
    stage(settings, "page")
    in_the_way = Path(settings.home) / "converted"
    in_the_way.write_text("a file where a folder should be")
    assert [watch.work() for _ in range(2)] == [["ingest_articles"], []]
    in_the_way.unlink()
    watch.ahead -= 365 * DAY
    assert sum(map(len, (watch.work() for _ in range(4)))) == 1
    assert_all_good(settings, "page")


def test_a_version_from_the_future_gives_way_to_a_newer_one(settings: Settings) -> None:
    stage(settings, "page")
    assert not errors(ingest(settings, "run-1", year=2099))
    stage(settings, "page", words="second words")
    assert not errors(ingest(settings, "run-2", year=2026))
    assert_all_good(settings, "page", words="second words")
    assert [version.run_id for version in state_of(settings, "page").published] == ["run-1", "run-2"]


# --- two at once ---------------------------------------------------------------------------------


@pytest.mark.rare("a bad condition that takes whole ingests")
def test_two_ingests_at_once_of_articles_that_change_meanwhile(settings: Settings) -> None:
    names = NAMES[:10]
    settings = settings.model_copy(update={"analyzer": conditions.SLOW})
    stage(settings, *names)
    both = [kb(settings, "ingest") for _ in range(2)]
    for attempt in itertools.count():
        if all(process.poll() is not None for process in both):
            break
        stage(settings, names[attempt % len(names)], words=f"words of attempt {attempt}")
        time.sleep(0.05)
    stage(settings, *names, words="second words")
    for process in both:
        code, words = said(process)
        assert code in (0, 1), words
        assert "Traceback" not in words
        assert "defect" not in words
    for name in set(known_articles(Layout.of(settings))):
        assert_consistent(settings, name)
    assert said(kb(settings, "ingest"))[0] == 0
    assert_all_good(settings, *names, words="second words")


@pytest.mark.rare("a bad condition that takes whole ingests")
def test_two_daemons_at_once_double_nothing(tmp_path: Path) -> None:
    given = {
        "KB_EMBEDDER": "hashing",
        "KB_ENGINE": "kb_pipeline_tests.doubles:WorkersHere",
        "KB_WATCH_SECONDS": "1",
        "KB_SETTLE_SECONDS": "0",
        "KB_DELETE_GRACE_SECONDS": "1",
    }
    stacks = [Stack(tmp_path, given) for _ in range(2)]
    settings, names = stacks[0].settings, NAMES[:12]
    stage(settings, *names)
    try:
        start_daemons(stacks)
        wait_until(lambda: published(settings) == set(names), 120)
        stage(settings, *names[:3], words="second words")
        for name in names[-3:]:
            shutil.rmtree(Path(settings.staging) / name)
        wait_until(lambda: published(settings) == set(names[:-3]), 120)
        wait_until(lambda: "9 articles unchanged" in (getattr(stacks[0].last_tick(), "said", "")), 60)
    finally:
        for stack in stacks:
            stack.stop()
    assert problems(stacks[0]) == []
    with stacks[0].instance() as instance:
        runs = instance.get_runs()
    assert len(runs) <= 2 * 3, "new ones, edits and removals; each at most by both"


def start_daemons(stacks: list[Stack]) -> None:
    """One after the other would be refused: the second one starts before it can see the first."""
    threads = [threading.Thread(target=stack.start) for stack in stacks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def published(settings: Settings) -> set[str]:
    return set(Workspace(settings).index.entries())


# --- a hostile staging folder --------------------------------------------------------------------


@pytest.fixture
def hostile(settings: Settings) -> Path:
    """Everything a file system can hold that is neither a file nor a folder, and names nobody should choose."""
    staging = Path(settings.staging)
    stage(settings, "good", "circle", "fifo", "socket", "device", "names")
    for name, target in (("self", "self"), ("one", "other"), ("other", "one"), ("nowhere", "gone")):
        (staging / name).symlink_to(target)
    for name, target in (("a.image", "a.image"), ("down", "."), ("up", "..")):
        (staging / "circle" / name).symlink_to(target)
    os.mkfifo(staging / "fifo" / "a.image")
    (staging / "fifo" / "b.image").symlink_to("a.image")
    (staging / "fifo-page").mkdir()
    os.mkfifo(staging / "fifo-page" / "index.html")
    (staging / "folder-page" / "index.html").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(staging / "socket" / "a.image"))
    (staging / "device" / "a.image").symlink_to("/dev/zero")
    for name in ("a\nb.image", "r\u202etl.image", "c\x1b[31m.image", "[x](y).image", os.fsdecode(b"bad\xff.image")):
        (staging / "names" / name).write_bytes(b"x")
    for name in ("new\nline", "r\u202etl", "c\x1b[31m", os.fsdecode(b"bad\xff")):
        (staging / name).mkdir()
    return staging


@pytest.mark.timeout(60)
def test_what_is_neither_file_nor_folder_blocks_nothing(settings: Settings, hostile: Path) -> None:
    failed = errors(ingest(settings))
    assert set(failed) == {"fifo-page", "folder-page"}
    assert all("there is no index.html" in reason for reason in failed.values())
    for name in ("good", "circle", "fifo", "socket", "device", "names"):
        assert_consistent(settings, name)


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.timeout(60)
def test_hostile_names_are_refused_once_and_in_words_that_can_be_printed(hostile: Path, watch: Watch) -> None:
    watch.work()
    assert watch.tick().skip_reason == dg.SkipReason("6 articles unchanged")
    listing = Staging(UPath(hostile)).list_articles()
    assert {"self", "one", "other", "new\nline", "bad\\udcff"} <= set(listing.refused)
    assert all(reason.isprintable() for reason in listing.refused.values())


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_hostile_folders_are_told_of_by_the_command(hostile: Path, run: Run) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="strict")  # type: ignore[union-attr]  # as they are outside of tests
    told = run("ingest", "--json")
    assert told.code == 1
    assert "Traceback" not in told.words
    assert "6 articles published" in told.words


def test_an_article_that_nobody_could_name_fails_like_any_other(settings: Settings) -> None:
    from kb_pipeline_tests.building import build_here

    for name in ("c\x1b[31m", os.fsdecode(b"bad\xff")):
        (result,) = build_here(settings, name).values()
        assert "rename the folder" in (result.error or "")
        assert (result.error or "").isprintable()


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_a_folder_of_two_thousand_files_is_one_article(settings: Settings) -> None:
    stage(settings, "many")
    for number in range(2_000):
        (Path(settings.staging) / "many" / f"{number}.image").write_bytes(b"%d" % number)
    assert not errors(ingest(settings))
    assert_consistent(settings, "many")


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_a_file_that_grows_while_it_is_read_is_tried_again(settings: Settings) -> None:
    stage(settings, "page")
    growing, enough = Path(settings.staging) / "page" / "index.html", threading.Event()

    def grow() -> None:
        while not enough.is_set():
            with growing.open("a") as file:
                file.write("<p>One more paragraph of the page.</p>")
            time.sleep(0.0005)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        while (result := ingest(settings)["page"]).error is None:
            pass  # it was read between two paragraphs
    finally:
        enough.set()
        writer.join()
    assert "was changed while the article was being read" in result.error
    assert result.transient
    assert not errors(ingest(settings))
    assert_consistent(settings, "page")


@pytest.mark.parametrize(
    ("staging", "home"),
    [("kb", "kb"), ("kb/staging", "kb"), ("staging", "staging/kb"), ("staging", "staging/article/.kb")],
)
def test_sources_and_what_is_made_of_them_are_kept_apart(tmp_path: Path, staging: str, home: str) -> None:
    with pytest.raises(SettingsError, match=r"KB_HOME is .* and KB_STAGING is .*; choose separate folders"):
        load_settings(staging=str(tmp_path / staging), home=str(tmp_path / home))


@pytest.mark.parametrize("name", ["serving", "index_uri"])
def test_nothing_is_served_or_indexed_among_the_sources(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("staging")
    with pytest.raises(SettingsError, match="one inside the other"):
        load_settings(staging=str(tmp_path / "staging"), **{name: str(tmp_path / "link" / "made")})


def test_a_hidden_home_in_the_staging_folder_is_no_article(settings: Settings) -> None:
    hidden = load_settings(**settings.model_dump() | {"home": f"{settings.staging}/.kb"})
    stage(hidden, "page")
    assert not errors(ingest(hidden))
    assert not errors(ingest(hidden))
    assert_all_good(hidden, "page")
