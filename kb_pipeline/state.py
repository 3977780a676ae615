"""What is known about each article: per layer the fingerprint it was made from, and by which run.

This, not Dagster's history, is the truth by which work is skipped: deleted partitions keep events.
"""

from collections.abc import Iterator

from pydantic import Field, ValidationError

from kb_pipeline.layout import Layout
from kb_pipeline.records import Record
from kb_pipeline.report import Markdown, Scalar, Table
from kb_pipeline.storage import names_in, read_bytes, write_bytes


class LayerState(Record):
    """One layer of one article. ``fingerprint`` covers what went in, ``output_hash`` what came out."""

    fingerprint: str
    output_hash: str
    run_id: str
    made_at: str
    seconds: float
    report: dict[str, Scalar | Markdown | Table] = Field(default_factory=dict)


class ArticleState(Record):
    """All layers of one article that have been made."""

    article_id: str
    layers: dict[str, LayerState] = Field(default_factory=dict)

    def with_layer(self, name: str, state: LayerState) -> "ArticleState":
        """A copy in which layer ``name`` is as given."""
        return self.model_copy(update={"layers": {**self.layers, name: state}})

    def without_layer(self, name: str) -> "ArticleState":
        """A copy that knows nothing of layer ``name``, so that it is made again."""
        return self.model_copy(update={"layers": {key: state for key, state in self.layers.items() if key != name}})


def load_state(layout: Layout, article_id: str) -> ArticleState:
    """The article's state; empty when nothing was made, or when the file is damaged (all is then made again)."""
    path = layout.state(article_id)
    if not path.is_file():
        return ArticleState(article_id=article_id)
    try:
        return ArticleState.model_validate_json(read_bytes(path))
    except ValidationError:
        return ArticleState(article_id=article_id)


def load_states(layout: Layout) -> Iterator[ArticleState]:
    """The states of all articles that were ever built and not removed."""
    for name in sorted(names_in(layout.home / "state")):
        if name.endswith(".json"):
            yield load_state(layout, name.removesuffix(".json"))


def save_state(layout: Layout, state: ArticleState) -> None:
    """Write the state as a whole."""
    write_bytes(layout.state(state.article_id), state.model_dump_json().encode())
