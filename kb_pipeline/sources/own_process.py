"""Reads a file in a process of its own, which is killed when the file takes too long or needs too much memory."""

from collections.abc import Callable
from typing import TypeVar

from kb_pipeline.errors import LimitExceededError, UnreadableArticleError, WorkerLostError
from kb_pipeline.limited import waiting
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits
from kb_pipeline.sources.base import DocumentLimits

T = TypeVar("T")


def call_in(
    process: LimitedProcess,
    limits: DocumentLimits,
    name: str,
    advice: tuple[str, str],
    function: Callable[..., T],
    *arguments: object,
) -> T:
    """Call a function that reads the file ``name``.

    ``advice`` says what to do when it exceeds the limits, and when it makes the process crash.

    Raises:
        UnreadableArticleError: it does, or the function says so of the file.
    """
    when_exceeded, when_lost = advice
    allowed = ProcessLimits(limits.seconds, limits.memory_mb, when_exceeded)
    try:
        with waiting():  # for another process, which has its own limits
            try:
                return process.call(function, *arguments, limits=allowed)
            except WorkerLostError:  # the document crashed it, or somebody killed it: a second call shows which
                return process.call(function, *arguments, limits=allowed)
    except LimitExceededError as exc:
        raise UnreadableArticleError(f"{name} {exc}") from exc
    except WorkerLostError as exc:
        raise UnreadableArticleError(
            f"{name} cannot be read: the process that read it died (a crash in a native library); {when_lost}"
        ) from exc


def check_size(name: str, data: bytes, limits: DocumentLimits) -> None:
    """Check that a file is not too large to be read.

    Raises:
        UnreadableArticleError: it is.
    """
    if len(data) > limits.most_bytes:
        raise UnreadableArticleError(
            f"{name} has {len(data):,} bytes, at most {limits.most_bytes:,} are read; split it, or raise "
            "KB_DOCUMENT_BYTES"
        )
