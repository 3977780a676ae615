"""What a tool is called for, in words, for the chat page and the terminal. Pure."""

from collections.abc import Mapping
from typing import Any

_LONGEST = 80
"""Characters of an argument in a line of what a tool is called for."""


def tool_in_words(name: str, arguments: Mapping[str, Any]) -> str:
    """What goes on while a tool runs: ``Reading the summary of manual.pdf``."""
    match name, arguments:
        case (("rag_semantic_search" | "search_knowledge_base"), {"query": query}):
            return f"Searching for “{shortened(query)}”"
        case "search_web", {"query": query}:
            return f"Searching the web for “{shortened(query)}”"
        case "rag_get_document", {"doc_id": document}:
            return f"Reading the summary of {shortened(document)}"
        case "rag_list_documents", _:
            return "Listing documents"
    return f"Using {shortened(name)}"


def shortened(value: object) -> str:
    """A value on one line, cut if it is long."""
    words = " ".join(str(value).split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
