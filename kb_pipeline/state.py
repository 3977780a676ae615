"""What is known about each article: what was made from what by which run, what is published, what fails.

This, not Dagster's history, is the truth by which work is skipped: deleted partitions keep events.
"""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import Field, TypeAdapter, ValidationError

from kb_pipeline.layout import Layout
from kb_pipeline.metering import total
from kb_pipeline.records import CheckResult, Record, Usage
from kb_pipeline.report import Markdown, Scalar, Table
from kb_pipeline.storage import names_in, read_all, read_bytes, write_bytes


class LayerState(Record):
    """One layer of one article. ``fingerprint`` covers what went in, ``output_hash`` what came out."""

    fingerprint: str
    output_hash: str
    run_id: str
    made_at: str
    seconds: float
    failed_checks: tuple[CheckResult, ...] = ()
    usage: tuple[Usage, ...] = ()


class Failure(Record):
    """Why the article is not as it should be. A ``transient`` failure is tried again without being asked.

    ``code_version`` is the failing layer's: another one may do better.
    """

    layer: str
    error: str
    transient: bool
    attempts: int
    first_at: str
    last_at: str
    run_id: str
    code_version: str = ""


class PublishedVersion(Record):
    """A version that readers have seen: serving files and entries in a generation of the index."""

    id: str
    published_at: str
    run_id: str
    source_hash: str
    generation: str


class Pin(Record):
    """An earlier version that was put back; it stays for as long as the source is the one it replaced."""

    version: str
    source_hash: str
    pinned_at: str
    run_id: str


class ArticleState(Record):
    """One article. ``published`` is in order of time; ``signature`` is the staging folder's at the last attempt.

    ``spent`` is all usage there ever was, by layer, that of failed attempts included.
    """

    article_id: str
    layers: dict[str, LayerState] = Field(default_factory=dict)
    published: tuple[PublishedVersion, ...] = ()
    pin: Pin | None = None
    failure: Failure | None = None
    signature: str = ""
    spent: dict[str, tuple[Usage, ...]] = Field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version that was made last, published or not; "" when there is none."""
        serving = self.layers.get("serving_article")
        return version_id(serving.output_hash) if serving else ""

    @property
    def published_version(self) -> str | None:
        """The version that readers see."""
        return self.published[-1].id if self.published else None

    @property
    def pinned_version(self) -> str | None:
        """The version that was put back, while the source is still the one that was rolled back from."""
        staged = self.layers.get("staged_article")
        return self.pin.version if self.pin and staged and self.pin.source_hash == staged.output_hash else None

    def with_layer(self, name: str, state: LayerState) -> "ArticleState":
        """A copy in which layer ``name`` is as given."""
        return self.model_copy(update={"layers": {**self.layers, name: state}})

    def without_layer(self, name: str) -> "ArticleState":
        """A copy that knows nothing of layer ``name``, so that it is made again."""
        return self.model_copy(update={"layers": {key: state for key, state in self.layers.items() if key != name}})

    def with_spent(self, layer: str, usage: Iterable[Usage]) -> "ArticleState":
        """A copy to which the usage is added."""
        spent = total([*self.spent.get(layer, ()), *usage])
        return self.model_copy(update={"spent": {**self.spent, layer: spent}}) if spent else self


def version_id(output_hash: str) -> str:
    """The name of a version's folder."""
    return output_hash[:16]


def load_state(layout: Layout, article_id: str) -> ArticleState:
    """The article's state; empty when nothing was made, or when the file is damaged (all is then made again)."""
    path = layout.state(article_id)
    return _parse(article_id, read_bytes(path)) if path.is_file() else ArticleState(article_id=article_id)


def _parse(article_id: str, data: bytes) -> ArticleState:
    try:
        return ArticleState.model_validate_json(data)
    except ValidationError:
        return ArticleState(article_id=article_id)


def known_articles(layout: Layout) -> list[str]:
    """Ids of all articles that were ever attempted and not removed, in order of name."""
    return sorted(name.removesuffix(".json") for name in names_in(layout.home / "state") if name.endswith(".json"))


def load_states(layout: Layout) -> Iterator[ArticleState]:
    """The states of all articles that were ever attempted and not removed."""
    for article_id, data in read_all(layout.home / "state", ".json"):
        yield _parse(article_id, data)


def save_state(layout: Layout, state: ArticleState) -> None:
    """Write the state as a whole."""
    write_bytes(layout.state(state.article_id), state.model_dump_json(exclude_defaults=True).encode())


Reports = Mapping[str, Mapping[str, Scalar | Markdown | Table]]
_REPORTS: TypeAdapter[Reports] = TypeAdapter(dict[str, dict[str, Scalar | Markdown | Table]])


def load_reports(layout: Layout, article_id: str) -> Reports:
    """What each layer told people when it was made; kept apart from the state, which is read often."""
    path = layout.reports(article_id)
    try:
        return _REPORTS.validate_json(read_bytes(path)) if path.is_file() else {}
    except ValidationError:
        return {}  # only shown, never computed with


def save_reports(layout: Layout, article_id: str, reports: Reports) -> None:
    """Write the reports as a whole."""
    write_bytes(layout.reports(article_id), _REPORTS.dump_json(dict(reports)))
