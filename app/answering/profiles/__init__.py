"""Profiles of the agent: whom it answers, and with which tools. A client chooses one by the ``model`` of its request.

Each is a Markdown file here: front matter (name, description, web_search, tools, mode), then the instructions that take
the place of the agent's role. The rules for sources are the same for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from kb_pipeline.errors import SettingsError

_FOLDER = Path(__file__).parent
_FENCE = "---\n"


@dataclass(frozen=True, slots=True)
class Profile:
    """Who the agent is for an answer.

    ``web_search``: it may search the web, where that is on. ``tools`` are the names of those it may call; ``None``
    means all. ``mode``: it calls tools, or answers from one search. ``instructions`` say whom it answers and how; empty
    means as usual.
    """

    name: str
    description: str
    web_search: bool = True
    tools: tuple[str, ...] | None = None
    mode: Literal["agent", "retrieve-first"] = "agent"
    instructions: str = ""


KNOWLEDGE_BASE = Profile("knowledge-base", "Cited, image-grounded answers from the knowledge base.")
"""The agent of those who choose none."""


@cache
def profiles() -> Mapping[str, Profile]:
    """All profiles by name, the usual one first.

    Raises:
        SettingsError: a file is not a profile.
    """
    read = [_read(path) for path in sorted(_FOLDER.glob("*.md"))]
    return {profile.name: profile for profile in (KNOWLEDGE_BASE, *read)}


def profile_named(name: object) -> Profile:
    """The profile of this name, or the usual one: clients send the names of all kinds of models."""
    return profiles().get(name, KNOWLEDGE_BASE) if isinstance(name, str) else KNOWLEDGE_BASE


def _read(path: Path) -> Profile:
    from kb_pipeline.steps.strict_yaml import strict_yaml

    nothing, _, rest = path.read_text(encoding="utf-8").partition(_FENCE)
    head, _, text = rest.partition(f"\n{_FENCE}")
    try:
        facts: Any = strict_yaml(f"\n{head}")
        if nothing or not text.strip():
            raise ValueError("it needs front matter between lines of ---, then instructions")
        tools = facts.get("tools", "all")
        if facts.get("mode", "agent") not in ("agent", "retrieve-first"):
            raise ValueError("mode must be agent or retrieve-first")
        return Profile(
            name=facts["name"],
            description=facts["description"],
            web_search=facts.get("web_search") is True,
            tools=None if tools == "all" else tuple(tools),
            mode=facts.get("mode", "agent"),
            instructions=text.strip(),
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise SettingsError(f"{path.name} is not a profile of the agent: {exc}") from exc
