"""``python -m app`` keeps what it has loaded out of garbage collection, which holds up every request."""

import gc
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app import __main__ as program


def test_what_is_loaded_is_not_looked_through_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def served(app: Any, *_: object, **__: object) -> None:
        with TestClient(app):
            pass

    monkeypatch.setenv("KB_HOME", str(tmp_path))
    monkeypatch.setenv("KB_EMBEDDER", "hashing")
    monkeypatch.setattr(program, "run_server", served)
    monkeypatch.setattr(program, "configure_logging", lambda: None)
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "collect", lambda: 0)  # what all tests have loaded takes a second
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    assert program.main() == 0
    assert frozen
