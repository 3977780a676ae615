"""Sweeping: what killed processes left goes, what somebody is writing right now and what is not ours stays."""

import os
import time
from pathlib import Path
from uuid import uuid4

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.upkeep.sweep import sweep

OLD = time.time() - 7200


def made(path: Path, age: float = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half")
    os.utime(path, (age, age))
    return path


@pytest.mark.parametrize("place", ["state", "versions/one/0123456789abcdef", "serving/one/images", "copies/state"])
def test_abandoned_files_and_the_folders_that_they_leave_empty_go(settings: Settings, place: str) -> None:
    home = Path(settings.home)
    path = made(home / place / f".{uuid4().hex}")
    for folder in path.parents:
        os.utime(folder, (OLD, OLD))
    assert sweep(Layout.of(settings)) == [str(path)]
    assert not path.exists()


def test_a_file_that_is_being_written_stays_with_its_folder(settings: Settings) -> None:
    path = made(Path(settings.home) / "state" / f".{uuid4().hex}", time.time())
    assert sweep(Layout.of(settings)) == []
    assert path.exists()


@pytest.mark.parametrize("name", ["one.json", ".hidden", ".unfinished", "0" * 32, f".{'0' * 33}"])
def test_other_names_are_nobodys_temporary_files(settings: Settings, name: str) -> None:
    path = made(Path(settings.home) / "serving" / "one" / name)
    assert sweep(Layout.of(settings)) == []
    assert path.exists()


def test_folders_that_are_not_ours_are_left_alone(settings: Settings) -> None:
    path = made(Path(settings.home) / "dagster" / f".{uuid4().hex}")
    assert sweep(Layout.of(settings)) == []
    assert path.exists()


def test_an_empty_folder_goes_once_it_is_old(settings: Settings) -> None:
    folder = Path(settings.home) / "converted" / "one"
    folder.mkdir(parents=True)
    sweep(Layout.of(settings))
    assert folder.exists()
    os.utime(folder, (OLD, OLD))
    sweep(Layout.of(settings))
    assert not folder.exists()
    assert folder.parent.exists()
