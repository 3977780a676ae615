"""The tree of errors: complete in its description, and whole after a journey between processes."""

import errno
import os
import pickle
import re
from pathlib import Path

import pytest

import app
import kb_pipeline
from app.errors import UpstreamBusyError
from kb_pipeline import errors
from kb_pipeline.errors import (
    DamagedLayerError,
    KnowledgeBaseError,
    LimitExceededError,
    MissingExtraError,
    TransientError,
    WorkerLostError,
    remedy,
)

OURS = re.compile(r"^class ([A-Z]\w*Error)\((?!Exception|ClientError|Foundry)", re.MULTILINE)


def test_the_tree_names_every_error() -> None:
    sources = [path for package in (app, kb_pipeline) for path in Path(package.__path__[0]).rglob("*.py")]
    defined = {name for path in sources for name in OURS.findall(path.read_text(encoding="utf-8"))}
    assert defined <= set(re.findall(r"\w+", errors.__doc__ or ""))


@pytest.mark.parametrize(
    "error",
    [
        MissingExtraError("KB_ENGINE=ray", "ray"),
        TransientError("busy", retry_after=7),
        WorkerLostError("page", "reading it", "a note"),
        LimitExceededError("too slow", "a note"),
        DamagedLayerError("chunks", "page/chunks.jsonl"),
        UpstreamBusyError("busy", retry_after=7),
    ],
)
def test_an_error_is_whole_after_a_journey_between_processes(error: KnowledgeBaseError) -> None:
    error.add_note("where it was raised")
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(
    ("problem", "advice"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "make room"),
        ("lance error: database or disk is full, object_store/local.rs:1", "make room"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), "make it writable"),
        (FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)), "a file stands where a folder is needed"),
        (NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), "a file stands where a folder is needed"),
        (IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)), "a folder stands where a file is needed"),
        ("anything else", "ask somebody"),
    ],
)
def test_the_advice_for_a_store_follows_from_what_is_wrong_with_it(problem: object, advice: str) -> None:
    assert advice in remedy(problem, "ask somebody")


def test_a_setting_may_be_what_is_wrong_unless_the_disk_is_full() -> None:
    setting = "set KB_HOME to a writable folder"
    assert remedy(FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)), setting).endswith(f"; or {setting}")
    assert setting not in remedy(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), setting)
