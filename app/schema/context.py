"""Knowledge composed for models, and what is left for later."""

from app.schema.wire import Wire
from kb_pipeline.records import KnowledgeMode


class BacklogPart(Wire):
    """A section that is left for later, and its bullets as text."""

    heading_path: tuple[str, ...]
    items: tuple[str, ...]


class Backlog(Wire):
    """What an article leaves for later; ``items`` are those of all sections, in the order of the text."""

    article_id: str
    title: str
    items: tuple[str, ...]
    sections: tuple[BacklogPart, ...]


class Mode(Wire):
    """The mode of questions that name none. ``has_backlog``: the caller may see sections that are left for later."""

    mode: KnowledgeMode
    has_backlog: bool


class ContextArticle(Wire):
    """An article in a context: how many of its sections are there whole, of how many."""

    article_id: str
    title: str
    sections: int
    of_sections: int


class KnowledgeContext(Wire):
    """What articles say, as markdown for a model, in at most as many tokens as asked for.

    ``tokens`` is a cautious estimate, as for all that models are given. ``is_cut``: something is left out at the end.
    """

    text: str
    mode: KnowledgeMode
    tokens: int
    is_cut: bool
    articles: tuple[ContextArticle, ...]
