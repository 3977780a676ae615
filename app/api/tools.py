"""Routes of the tools, for programs: their schemas, and calls. A call that fails is a value as well, not a status."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException
from pydantic import JsonValue

from app.api.gate import TheService, Who
from app.tools.base import as_value

router = APIRouter(prefix="/api/tools", tags=["tools"])


@router.get("")
async def tools(service: TheService, who: Who) -> dict[str, Any]:
    """The tools as functions of OpenAI's chat completions, with the JSON schemas of their arguments."""
    return {"tools": [tool.function_tool_schema for tool in (await service.offered_tools(who)).values()]}


@router.post("/{name}")
async def call(
    name: str, service: TheService, who: Who, arguments: Annotated[JsonValue, Body()] = None
) -> dict[str, Any]:
    """Call a tool with the arguments in the body: ``{"success": true, ...}``, or why not, with hints what to do."""
    offered = await service.offered_tools(who)
    tool = offered.get(name)
    if tool is None:
        raise HTTPException(404, f"there is no tool {name[:80]!r}; there are {', '.join(offered)}")
    return as_value(await tool.call({} if arguments is None else arguments, who, service.image_links))
