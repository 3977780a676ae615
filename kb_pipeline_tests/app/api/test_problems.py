"""Failures as readers are told them: in the shape of the service, without a place of the server."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve


def _spoil(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        if path.is_file():
            path.write_bytes(b"\x00spoilt")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "manifests": lambda home: _spoil(home, "serving/**/manifest.json"),
    "articles": lambda home: _spoil(home, "serving/**/article.md"),
    "images": lambda home: _spoil(home, "serving/**/*.png"),
    "state": lambda home: _spoil(home, "state/**/*"),
    "versions of the index": lambda home: _spoil(home, "index/**/*.manifest"),
    "data of the index": lambda home: _spoil(home, "index/**/data/*"),
    "all of the index": lambda home: _spoil(home, "index/**/*"),
    "everything": lambda home: _spoil(home, "**/*"),
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_answer_names_a_place_of_the_server(serve: Serve, own: Settings, damage: str) -> None:
    DAMAGES[damage](own.home_path)
    service = serve()
    replies: list[httpx.Response] = [
        service.get(path)
        for path in (
            "/health",
            "/api/articles",
            "/api/articles/layers",
            "/api/search?q=crop",
            "/api/suggestions",
            "/api/images/layers/images/crop.png",
            "/api/quality/runs",
            "/api/quality/runs/x",
            "/api/conversations",
            "/v1/responses/caresp_x",
        )
    ]
    replies.append(service.post("/chat", json={"question": "How do I crop a layer?"}))
    asked = {"input": "How do I crop a layer?"}
    replies += [service.post("/v1/responses", json={**asked, "stream": stream}) for stream in (False, True)]
    for reply in replies:
        told = reply.text + str(reply.headers)
        assert not [place for place in (own.home, own.staging, "site-packages", ".rs:") if place in told], reply.url
        assert "Traceback" not in told
        if reply.is_error:
            assert set(reply.json()["error"]) >= {"code", "message", "type"}
