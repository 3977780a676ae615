"""What the widget on other sites asks, and an answer as it draws it: texts and names of elements, never HTML."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints

from app.schema.wire import Wire

Node = str | list[Any]
"""A text, or an element: its name, its attribute or ``None``, and what is in it. See :mod:`app.api.answer_nodes`."""


class WidgetQuestion(Wire):
    """A question that belongs to no conversation; ``document_ids``: about these documents only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    document_ids: Annotated[tuple[str, ...], Field(max_length=7)] = ()


class WidgetSource(Wire):
    """A source by the number of its references; ``quotes`` bear out the answer, ``url`` is that of the original."""

    number: int
    name: str
    quotes: tuple[str, ...] = ()
    url: str | None = None


class WidgetOption(Wire):
    """A document that a question may mean."""

    article_id: str
    title: str


class WidgetAnswer(Wire):
    """An answer; ``more`` is what is folded. ``options`` are asked back instead of an answer, ``ask_instead`` are
    questions that have one."""

    answer: tuple[Node, ...]
    more: tuple[Node, ...] = ()
    sources: tuple[WidgetSource, ...] = ()
    options: tuple[WidgetOption, ...] = ()
    ask_instead: tuple[str, ...] = ()
