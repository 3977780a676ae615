"""Joins a Ray cluster, once in a process. A cluster is never started, because its ports would not be private."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from kb_pipeline.errors import MissingExtraError, SettingsError

_joining = threading.Lock()
_ANSWER_SECONDS = 10.0
"""Seconds: ``ray.init`` itself hangs for minutes on an address where nobody answers."""


def join(address: str | None) -> ModuleType:
    """Connect to the cluster at ``address``, unless this process is connected already, and return the Ray module.

    Without an address, Ray uses ``RAY_ADDRESS``, or a cluster that has a node on this machine.

    Raises:
        MissingExtraError: the ``ray`` package is not installed.
        SettingsError: no cluster answers at the address.
    """
    try:
        import ray

        module: ModuleType = ray
    except ImportError as exc:
        raise MissingExtraError("KB_ENGINE=ray", "ray") from exc
    with _joining:
        if not module.is_initialized():
            _connect(module, address or os.environ.get("RAY_ADDRESS") or "auto")
    return module


def _connect(ray: ModuleType, address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        _knock(address)
        with _own_sigterm():
            ray.init(address, logging_level=logging.WARNING)
    except (OSError, ValueError, RuntimeError) as exc:
        raise SettingsError(
            f"KB_RAY_ADDRESS is {address!r}, and no Ray cluster can be joined there: {exc}; start one (ray start "
            "--head), or name one that has a node here (host:6379) or accepts clients (ray://host:10001); "
            "if it asks for a token, set RAY_AUTH_MODE=token here too"
        ) from exc


def _knock(address: str) -> None:
    """Fail soon if nothing listens at the address; Ray itself would retry for many minutes."""
    if address == "local":
        raise ValueError("a cluster of this machine alone is of no use; KB_ENGINE=local uses all its cores")
    if address != "auto":
        host, _, port = address.rpartition("://")[2].rpartition(":")
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep the signal handler of this process: Dagster's cancels a run properly, Ray's ends the process."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
