"""Tools of others, named in KB_TOOLS."""

import asyncio

import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.tools import open_tools
from app.tools.base import Arguments, Tool, ToolResult, ToolServices
from kb_pipeline.errors import SettingsError

HERE = "kb_pipeline_tests.app.tools.test_plugins"


class Nothing(Arguments):
    """No arguments."""


class Greet(Tool[Nothing]):
    name = "greet"
    description = "Greet whoever asks."
    arguments = Nothing

    async def run(self, arguments: Nothing, who: Principal) -> ToolResult:
        return ToolResult({"greeting": f"Hello {who.user_id}"}, 1)


class Impostor(Greet):
    name = "rag_get_document"


class Misnamed(Greet):
    name = "greet me"


def test_a_tool_of_ones_own_is_called_like_ours(finding: Retrieval) -> None:
    tool = open_tools(ToolServices(finding), [f"{HERE}:Greet"])["greet"]
    assert asyncio.run(tool.execute(user_context=Principal("ann"))) == {"success": True, "greeting": "Hello ann"}
    assert asyncio.run(tool.execute(loud=True))["type"] == "InvalidArgument"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("greet", "package.module:Class"),
        (f"{HERE}:Impostor", "another tool has"),
        (f"{HERE}:Misnamed", "'greet me' is none"),
        (f"{HERE}:Nothing", "not a subclass"),
        ("no.such:Tool", "cannot be imported"),
    ],
)
def test_one_that_cannot_be_used_is_named(finding: Retrieval, name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"KB_TOOLS .*{said}"):
        open_tools(ToolServices(finding), [name])
