from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.api.gate import service_of, who_asks
from app.api.originals import router
from app.callers.principal import Principal
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.layout import Layout

URL = "/api/images/layers/images/crop.png"


@pytest.fixture
def client(knowledge_base: Settings) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(router)
    service = SimpleNamespace(articles=SimpleNamespace(layout=Layout.of(knowledge_base)))
    app.dependency_overrides = {service_of: lambda: service, who_asks: Principal}
    with TestClient(app) as client:
        yield client


@pytest.fixture
def picture(knowledge_base: Settings) -> bytes:
    return (Path(knowledge_base.home) / "serving" / "layers" / "images" / "crop.png").read_bytes()


def test_an_image_comes_whole_and_as_nothing_but_an_image(client: TestClient, picture: bytes) -> None:
    response = client.get(URL)

    assert (response.status_code, response.content) == (200, picture)
    assert response.headers["content-type"] == "image/png"
    assert response.headers["content-length"] == str(len(picture))
    assert response.headers["etag"] == f'"{sha256(picture)}"'
    assert response.headers["cache-control"] == "private, no-cache"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_an_image_that_the_client_has_is_not_sent_again(client: TestClient) -> None:
    etag = client.get(URL).headers["etag"]

    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        response = client.get(URL, headers={"If-None-Match": known})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == etag
    assert client.get(URL, headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_head_of_an_image_says_what_would_come(client: TestClient, picture: bytes) -> None:
    response = client.head(URL)

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-length"] == str(len(picture))
    assert response.headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ("bytes=0-9", slice(0, 10)),
        ("bytes=10-", slice(10, None)),
        ("bytes=-5", slice(-5, None)),
        ("bytes=3-999999", slice(3, None)),
    ],
)
def test_a_part_of_an_image_can_be_asked_for(client: TestClient, picture: bytes, wanted: str, part: slice) -> None:
    response = client.get(URL, headers={"Range": wanted})

    start, stop, _ = part.indices(len(picture))
    assert (response.status_code, response.content) == (206, picture[part])
    assert response.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(picture)}"


@pytest.mark.parametrize("wanted", ["bytes=5-2", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b"])
def test_a_range_that_cannot_be_read_is_as_none(client: TestClient, picture: bytes, wanted: str) -> None:
    assert client.get(URL, headers={"Range": wanted}).content == picture


def test_a_range_of_another_version_is_as_none(client: TestClient, picture: bytes) -> None:
    response = client.get(URL, headers={"Range": "bytes=0-9", "If-Range": '"other"'})

    assert (response.status_code, response.content) == (200, picture)


@pytest.mark.parametrize("wanted", ["bytes=9999999-", "bytes=-0"])
def test_a_range_behind_the_end_is_refused(client: TestClient, picture: bytes, wanted: str) -> None:
    response = client.get(URL, headers={"Range": wanted})

    assert response.status_code == 416
    assert response.headers["content-range"] == f"bytes */{len(picture)}"


@pytest.mark.parametrize(
    "url",
    [
        "/api/images/unknown/images/crop.png",
        "/api/images/layers/images/unknown.png",
        "/api/images/layers/manifest.json",
        "/api/images/layers/images/..%2fmanifest.json",
        "/api/images/layers/images/%252e%252e%252fmanifest.json",
        "/api/images/%2e%2e/state/layers.json",
        "/api/images/layers/%2e%2e/printing/images/tray.png",
        "/api/images/layers%2f..%2fprinting/images/tray.png",
        "/api/images/layers/images%5ccrop.png",
        "/api/images/layers/images/crop.png%00",
        "/api/images/layers//images/crop.png",
        "/api/images/layers/%ff",
    ],
)
def test_anything_else_is_not_found(client: TestClient, url: str) -> None:
    for method in ("GET", "HEAD"):
        response = client.request(method, url)
        assert response.status_code == 404
        assert "etag" not in response.headers


def test_images_are_only_read(client: TestClient) -> None:
    assert client.post(URL).status_code == 405
    assert client.delete(URL).status_code == 405
