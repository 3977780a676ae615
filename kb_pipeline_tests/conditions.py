"""Bad conditions for tests: an ingest in a process of its own, without root's powers if need be; a disk that is small.

``python -m kb_pipeline_tests.conditions`` ingests what ``KB_*`` says, without Dagster, and prints what failed as JSON.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.flow.build import ArticleResult, build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.settings import Settings, load_settings

_WITHOUT_POWERS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
"""Root who has to respect the permissions of files, like everybody else."""
KB = str(Path(sys.executable).parent / "kb")
ROOT = Path(__file__).parents[1]


class SlowAnalyzer(LocalAnalyzer):
    """Leaves time for something to happen meanwhile."""

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        time.sleep(0.03)
        return super().convert(article_id, html, images)


SLOW = "kb_pipeline_tests.conditions:SlowAnalyzer"


def ingest(settings: Settings, run_id: str = "run-1", year: int = 2026) -> dict[str, ArticleResult]:
    """Build and publish everything that is staged, batch by batch; returns the results by article id."""
    run = Run(run_id, f"{year}-01-01T00:00:00+00:00")
    built = build_articles(
        open_workspace(settings), open_workspace(settings).staging.list_articles().article_ids, LAYER_NAMES, run
    )
    results: dict[str, ArticleResult] = {}
    while batch := list(islice(built, settings.publish_every)):
        results |= {result.article_id: result for result in publish(open_workspace(settings), batch, LAYER_NAMES, run)}
    return results


def errors(results: Mapping[str, ArticleResult]) -> dict[str, str]:
    """Reasons of the articles that failed."""
    return {article_id: result.error for article_id, result in results.items() if result.error is not None}


def environment(settings: Settings) -> dict[str, str]:
    """What a process needs to work on the same folders."""
    names = ("staging", "home", "serving", "analyzer", "embedder", "chunk_min_tokens", "publish_every")
    ours = {f"KB_{name}".upper(): str(getattr(settings, name)) for name in names if getattr(settings, name) is not None}
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
    fast = {"KB_ENGINE": "kb_pipeline_tests.doubles:WorkersHere", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return clean | ours | fast


@dataclass(frozen=True)
class Started:
    """A process that goes on in the background."""

    process: "subprocess.Popen[str]"

    def failures(self) -> dict[str, str]:
        """Wait for its end: the reasons of the articles that failed."""
        said, problem = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, problem
        failed: dict[str, str] = json.loads(said)
        return failed


def start_ingest(settings: Settings, *, plain_user: bool = False) -> Started:
    """An ingest as another process."""
    return Started(_start(settings, [sys.executable, "-m", "kb_pipeline_tests.conditions"], plain_user))


def kb(settings: Settings, *arguments: str, plain_user: bool = False) -> "subprocess.Popen[str]":
    """A ``kb`` command, started."""
    return _start(settings, [KB, *arguments], plain_user)


def _start(settings: Settings, command: Sequence[str], plain_user: bool) -> "subprocess.Popen[str]":
    pipe, clean = subprocess.PIPE, [*(_WITHOUT_POWERS if plain_user and os.geteuid() == 0 else ()), *command]
    return subprocess.Popen(clean, env=environment(settings), cwd="/", stdout=pipe, stderr=pipe, text=True)


def said(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code, and everything it printed in one line."""
    printed = process.communicate(timeout=120)
    return process.returncode, " ".join("".join(printed).split())


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A disk of that size, mounted for a while."""
    place.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, but: int) -> None:
    """Use up all the room but so many bytes."""
    (disk / "ballast").unlink(missing_ok=True)
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - but)))


def make_room(disk: Path) -> None:
    (disk / "ballast").unlink()


if __name__ == "__main__":
    print(json.dumps(errors(ingest(load_settings()))))
