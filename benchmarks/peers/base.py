"""The peer role: a framework that turns a staging folder into an index on disk and finds passages in it.

Here: the contract. Not here: anything about one framework, measuring, scoring.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from benchmarks.peers.embedding import Model

Mode = Literal["vector", "hybrid", "keyword"]
MODES: tuple[Mode, ...] = ("vector", "hybrid", "keyword")

PAGES = "*/index.html"
DEPTH = 50
"""Passages that each way of searching finds, also before two are fused: the frameworks' own 2 to 10 are few."""


@dataclass(frozen=True)
class Passage:
    """A chunk that was found, and the article it is of."""

    article_id: str
    text: str


class Peer(ABC):
    """One framework. Importing its module is part of what it costs; an instance belongs to one folder on disk."""

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    """Whose versions a reader needs to know."""

    def __init__(self, store: Path, model: Model) -> None:
        """Open what ``store`` holds, or begin it."""
        self.store = store
        self.model = model

    @abstractmethod
    def ingest(self, staging: Path) -> int:
        """Make the index of all pages; returns the number of chunks."""

    @abstractmethod
    def update(self, staging: Path) -> dict[str, Any]:
        """Bring the index up to date the way the framework documents it; also the first time. Returns what it tells.

        Raises:
            NotImplementedError: the framework documents no such way.
        """

    @abstractmethod
    def open(self, mode: Mode, top: int) -> None:
        """Get ready to search."""

    @abstractmethod
    def search(self, question: str) -> list[Passage]:
        """The best passages, best first."""


def article_of(page: object) -> str:
    """The article that a page's path belongs to."""
    return Path(str(page)).parent.name
