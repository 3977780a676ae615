"""Locks: one worker on an article at a time, whichever process it is in, and none is ever left behind."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.store.locks import Locks
from kb_pipeline_tests import processes

MANY = [f"article-{number}" for number in range(300)]
HOLDER = """
import sys
from pathlib import Path
from kb_pipeline.store.locks import Locks
with Locks(Path(sys.argv[1])).hold([sys.argv[2]]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another_process(folder: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process lets go when its input is closed."""
    command = [sys.executable, "-c", HOLDER, str(folder), name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process


def waiting_for(folder: Path, name: str) -> threading.Thread:
    """A thread that ends as soon as it got the lock."""

    def wait() -> None:
        with Locks(folder).hold([name]):
            pass

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_second_holder_waits_until_the_first_lets_go(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path, "page") as first:
        second = waiting_for(tmp_path, "page")
        second.join(0.3)
        assert second.is_alive()
        first.communicate()
        second.join(10)
        assert not second.is_alive()


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path, "page") as first:
        second = waiting_for(tmp_path, "page")
        first.kill()
        second.join(10)
        assert not second.is_alive()


def test_threads_of_one_process_wait_for_each_other_too(tmp_path: Path) -> None:
    with Locks(tmp_path).hold(["page"]):
        second = waiting_for(tmp_path, "page")
        second.join(0.2)
        assert second.is_alive()
    second.join(10)
    assert not second.is_alive()


def test_a_lock_is_let_go_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a defect"), Locks(tmp_path).hold(MANY):
        raise ValueError("a defect")
    second = waiting_for(tmp_path, "article-7")
    second.join(10)
    assert not second.is_alive()


def test_different_names_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with Locks(tmp_path).hold(["one"]), Locks(tmp_path).hold(["two"]):
        pass


def test_names_of_any_kind_and_number_share_a_bounded_number_of_files(tmp_path: Path) -> None:
    with Locks(tmp_path / "new" / "folder").hold([*MANY, *MANY, "../outside", "a/b", "工单", "x" * 5000]):
        pass
    assert len(list((tmp_path / "new" / "folder").iterdir())) <= 256
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def take_many(folder: str, seed: int) -> int:
    dice, counted = random.Random(seed), Path(folder) / "counted"
    for _ in range(6):
        with Locks(Path(folder) / "locks").hold([*dice.sample(MANY, 20), "article-0"]):
            number = int(counted.read_text())
            time.sleep(0.001)
            counted.write_text(str(number + 1))
    return seed


@pytest.mark.slow("starts processes and kills them")
def test_holders_of_many_names_in_any_order_never_wait_for_each_other_for_ever(tmp_path: Path) -> None:
    (tmp_path / "counted").write_text("0")
    with processes.at_once(2) as pool:
        results = [pool.submit(take_many, str(tmp_path), seed) for seed in range(2)]
        assert [future.result(timeout=60) for future in results] == [0, 1]
    assert (tmp_path / "counted").read_text() == "12", "never two at a time"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StorageError, match=r"cannot lock .*/file/locks/.*\.lock: .*check that KB_HOME may be written"),
        Locks(tmp_path / "file" / "locks").hold(["page"]),
    ):
        pass
