"""Everything at once: Azurite, the stand-ins of the analyzers and of OpenAI, the search service behind its contract."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel, aimock_server
from kb_pipeline_tests.azurite import Containers
from kb_pipeline_tests.cli.conftest import own_environment, run
from kb_pipeline_tests.contracts.services import services_of
from kb_pipeline_tests.openai_server import openai_server
from kb_pipeline_tests.search_service.fixtures import search_settings
from kb_pipeline_tests.search_service.running import RunningService

__all__ = ["own_environment", "run"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    with aimock_server(tmp_path_factory.mktemp("aimock")) as server:
        yield server


@pytest.fixture
def heard(model: Aimock) -> Iterator[OwnModel]:
    """Hands requests on to aimock, and keeps them whole: aimock's own journal leaves out what is above 64 KB."""

    def hand_on(body: dict[str, Any], request: Request) -> Response:
        answer = httpx.post(f"{model.url}{request.url.path}", json=body, timeout=60)
        return Response(answer.content, answer.status_code, media_type=answer.headers["content-type"])

    with OwnModel(hand_on) as relay:
        yield relay


@pytest.fixture(
    params=[
        "local",
        pytest.param("content-understanding", marks=pytest.mark.rare("as the first, with another analyzer")),
        pytest.param("mistral-doc-ai", marks=pytest.mark.rare("as the first, with another analyzer")),
    ]
)
def on_azure(
    request: pytest.FixtureRequest,
    own_environment: dict[str, str],
    containers: Containers,
    fake: RunningService,
    checked_url: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """The environment of somebody who has set everything to Azure; for the tests' own processes as well."""
    cloud = containers.settings(settings)
    remote = ("staging", "serving", "staging_connection_string", "serving_connection_string")
    with services_of(request.param) as analyzer, openai_server() as embeddings:
        chosen = {
            **{name: getattr(cloud, name) for name in remote},
            **search_settings(checked_url).model_dump(include={"index", "search_endpoint", "search_api_key"}),
            **embeddings.settings,
            **analyzer,
            "analyzer": request.param,
            "engine": "local",
            "embedder": "openai/text-embedding-3-small",
        }
        own_environment |= {f"KB_{name}".upper(): plain(value) for name, value in chosen.items()}
        for name, value in own_environment.items():
            monkeypatch.setenv(name, value)
        yield


def plain(value: Any) -> str:
    return value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)
