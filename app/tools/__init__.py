"""Tools with which models and programs look into the knowledge base: search it, list its documents, get one.

One module each. To add one of your own, subclass ``app.tools.base:Tool`` and name the class in ``KB_TOOLS``.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.tools.base import Tool, ToolServices
from app.tools.get_document import GetDocumentTool
from app.tools.list_documents import ListDocumentsTool
from app.tools.semantic_search import SemanticSearchTool
from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener

AnyTool = Tool[Any]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What models' services take for the name of a function."""


def open_tools(services: ToolServices, plugins: Sequence[str] = ()) -> Mapping[str, AnyTool]:
    """The tools by name: ours, and those of the classes ``package.module:Class``, in this order.

    Raises:
        SettingsError: a class cannot be opened, or its name is no name for a tool or another tool's.
    """
    tools: dict[str, AnyTool] = {
        each.name: each(services) for each in (SemanticSearchTool, ListDocumentsTool, GetDocumentTool)
    }
    for plugin in plugins:
        if ":" not in plugin:
            raise SettingsError(f"KB_TOOLS has {plugin!r}; write package.module:Class of your own")
        tool = find_opener("KB_TOOLS", plugin, {}, Tool)(services)  # type: ignore[type-abstract]
        if not _NAME.fullmatch(tool.name):
            raise SettingsError(f"KB_TOOLS has {plugin!r}, whose name {tool.name!r} is none; it must be like look_up")
        if tool.name in tools:
            raise SettingsError(f"KB_TOOLS has {plugin!r}, whose name {tool.name!r} another tool has; choose another")
        tools[tool.name] = tool
    return tools
