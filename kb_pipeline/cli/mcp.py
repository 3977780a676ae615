"""``kb mcp``: the tools of the knowledge base for assistants and editors that start their servers themselves."""

from kb_pipeline.application import open_application
from kb_pipeline.settings import load_settings


def mcp() -> None:
    """Serve search, list and get as MCP tools over stdin and stdout, for assistants and editors.

    They start this command themselves. Over HTTP, the agent service of kb serve has the same tools at /mcp.
    """
    open_application(load_settings()).serve_mcp()
