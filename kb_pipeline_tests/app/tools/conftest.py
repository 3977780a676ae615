"""Tools over the made library."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.tools import AnyTool, open_tools
from app.tools.base import ToolServices
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.tools.library import library, publish

Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A knowledge base of 200 made documents; not to be written to."""
    return publish(tmp_path_factory.mktemp("library"), library())


@pytest.fixture(scope="session")
def finding(many: Settings) -> Iterator[Retrieval]:
    searching = Retrieval(Workspace(many))
    yield searching
    searching.close()


@pytest.fixture
def tools(finding: Retrieval) -> dict[str, AnyTool]:
    return dict(open_tools(ToolServices(finding)))


@pytest.fixture
def call(tools: dict[str, AnyTool]) -> Call:
    """``call("rag_list_documents", who, limit=3)``."""

    def called(name: str, who: Principal | None = None, /, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(tools[name].execute(user_context=who, **arguments))

    return called
