"""The contract of all backends that search the web, and the pages that they return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from app.settings import AppSettings
from kb_pipeline.wording import counted

MOST_RESULTS = 10
"""Pages that a search gives at most: the first page of a search engine."""
MOST_BYTES = 2_000_000
"""The largest page that is fetched, unpacked: pages of documentation have a tenth of it."""
MOST_CHARACTERS = 8_000
"""The longest text of one page that is read: some screens."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that a search found."""

    title: str
    url: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was fetched: its main content as plain text and as markdown without links and images.

    ``url`` is where it was found in the end, ``fetched_at`` ISO 8601 in UTC, ``sha256`` the hash of its bytes.
    """

    url: str
    title: str
    text: str
    fetched_at: str
    sha256: str
    markdown: str = ""


class WebSearch(ABC):
    """Searches the web, or a part of it, and fetches pages. All askers share it.

    A plug-in is a subclass whose constructor takes the settings; ``name`` is what readers call what it searches.
    """

    name: str

    def __init__(self, settings: AppSettings) -> None:
        self.settings = settings

    @abstractmethod
    async def search(self, query: str, max_results: int = 3) -> list[WebResult]:
        """The pages that match best, best first.

        Raises:
            WebError: the search failed.
        """

    @abstractmethod
    async def fetch(self, url: str) -> WebPage:
        """The page at an address.

        Raises:
            WebError: the address is refused, or the page cannot be read.
        """

    async def check(self) -> str:
        """Try a search, and say in a few words what was found. Raises like a search."""
        pages = await self.search("search", 1)
        return f"{self.name}; a search found {counted(len(pages), 'page')}"

    async def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Close connections."""
