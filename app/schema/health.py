"""How the service is."""

from typing import Literal

from pydantic import Field

from app.schema.answers import AnsweredBy
from app.schema.network import NetworkHealth
from app.schema.wire import Wire


class WebStatistics(Wire):
    """What conversations looked up on the web, as far as it is still kept; all 0 if the web is off.

    ``searches`` is the name of what is searched, "" if the web is off. ``hits`` were found again without a search,
    ``misses`` were not, ``entries`` are kept now. ``failures`` counts searches and pages that failed, by reason, since
    the service started.
    """

    searches: str = ""
    hits: int = 0
    misses: int = 0
    entries: int = 0
    failures: dict[str, int] = Field(default_factory=dict)


class IndexHealth(Wire):
    """The state of the search index."""

    reachable: bool
    chunks: int = 0
    embedding_model: str | None = None
    generation: str | None = None
    problem: str | None = None


class ConversationsHealth(Wire):
    """Whether conversations can be read and kept."""

    usable: bool = True
    problem: str | None = None


class Health(Wire):
    """The state of the service. ``last_published_at`` is when an article was last published.

    ``network`` is there if a scenario is configured. ``audit`` is what the audit log records, or that it fails.
    """

    status: Literal["ok", "degraded"]
    version: str
    index: IndexHealth
    conversations: ConversationsHealth = ConversationsHealth()
    answered_by: AnsweredBy
    model: str | None
    vision: bool
    last_published_at: str | None = None
    network: NetworkHealth | None = None
    audit: Literal["off", "changes", "all", "failing"] = "off"
