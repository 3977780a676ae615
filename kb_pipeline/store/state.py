"""The state of each article: which run made which layer from what, what is published, and what fails.

Work is skipped according to these states and not to Dagster's event log, which keeps events of deleted partitions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from operator import not_

from pydantic import Field, TypeAdapter

from kb_pipeline.records import CheckResult, Markdown, Record, Scalar, Table, Usage
from kb_pipeline.services.usage import total
from kb_pipeline.steps.fingerprint import seal, unseal
from kb_pipeline.store.files import names_in, read_all, read_bytes, write_bytes
from kb_pipeline.store.kept import DurableRecord, copied_names
from kb_pipeline.store.layout import Layout

_FOLDER = "state"
_SETTING = re.compile(r"\bKB_[A-Z_]+\b")
_INSTALL = "pip install"
FIX_IT = "fix it in staging; it is then ingested again"
"""What to do about an article that is at fault itself."""


class LayerState(Record):
    """One layer of one article. ``fingerprint`` covers the inputs, ``output_hash`` the result.

    ``files`` are the SHA-256 hashes of the layer's files, by the names that the layer gives them. The layer
    ``search_index`` has those of the published version. ``format`` is that of the staged document; "" for a page,
    "serving" for an article that another program made. ``text_hash`` is the hash of what is staged without what the
    author says of pictures, which only their descriptions are made from; "" if that is all.
    """

    fingerprint: str
    output_hash: str
    run_id: str
    made_at: str
    seconds: float
    failed_checks: tuple[CheckResult, ...] = ()
    usage: tuple[Usage, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)
    format: str = ""
    text_hash: str = Field(default="", exclude_if=not_)


class BuildFailure(Record):
    """Why the last build of the article failed. A ``transient`` failure is retried automatically.

    ``defect``: the reason is no error of ours, so there is a stack trace to report.
    ``code_version`` is that of the failed layer; the article is retried when it changes. ``limits`` is set if the
    process was killed or died in an unknown layer; once that counts as permanent, the article is retried when the
    limits or any code change.
    """

    layer: str
    error: str
    transient: bool
    attempts: int
    first_at: str
    last_at: str
    run_id: str
    code_version: str = ""
    limits: str = ""
    defect: bool = False

    @property
    def kind(self) -> str:
        """The word for people: "transient" or "permanent"."""
        return "transient" if self.transient else "permanent"

    @property
    def reason(self) -> str:
        """The error on one line."""
        return self.error.partition("\n")[0]

    @property
    def remedy(self) -> str:
        """What to do about it, for people. What a setting or a package is missing for is no fault of the article."""
        if self.transient:
            return "tried again by itself while kb serve runs; or: kb retry"
        if self.defect:
            return "report it; its stack trace: kb failures --json"
        if settings := " or ".join(dict.fromkeys(_SETTING.findall(self.reason))):
            return f"change {settings}, then: kb retry; or {FIX_IT}"
        if _INSTALL in self.reason:
            return f"{_INSTALL} as the reason says, then: kb retry; or {FIX_IT}"
        return FIX_IT


class PublishedVersion(Record):
    """A version that was published: its serving files, and its entries in a generation of the index."""

    id: str
    published_at: str
    run_id: str
    source_hash: str
    generation: str


class Pin(Record):
    """An earlier version that was put back. It stays until the source changes from ``source_hash``."""

    version: str
    source_hash: str
    pinned_at: str
    run_id: str


class ArticleState(Record):
    """One article. ``published`` is in order of time; ``signature`` is the one of the staging folder at the last build.

    ``arrived_at`` is when it was first built: its upload date, unless its author says another one.
    ``spent`` is all usage so far, by layer, including failed attempts. ``damage`` describes damaged files that the
    state was read from; it is not saved.
    """

    article_id: str
    layers: dict[str, LayerState] = Field(default_factory=dict)
    published: tuple[PublishedVersion, ...] = ()
    pin: Pin | None = None
    failure: BuildFailure | None = None
    signature: str = ""
    spent: dict[str, tuple[Usage, ...]] = Field(default_factory=dict)
    arrived_at: str = ""
    damage: str = Field(default="", exclude=True)

    @property
    def version(self) -> str:
        """The version that was made last, published or not; "" if there is none."""
        serving = self.layers.get("serving_article")
        return version_id(serving.output_hash) if serving else ""

    @property
    def published_version(self) -> str | None:
        """The version that readers see."""
        return self.published[-1].id if self.published else None

    @property
    def pinned_version(self) -> str | None:
        """The version that was put back, unless the source has changed since the rollback."""
        staged = self.layers.get("staged_article")
        return self.pin.version if self.pin and staged and self.pin.source_hash == staged.output_hash else None

    @property
    def earliest(self) -> str:
        """The earliest time that is known of it; "" if nothing was made yet."""
        times = [*(layer.made_at for layer in self.layers.values()), *(last.published_at for last in self.published)]
        return min(times, default="")

    def with_layer(self, name: str, state: LayerState) -> "ArticleState":
        """A copy with this state of layer ``name``."""
        return self.model_copy(update={"layers": {**self.layers, name: state}})

    def without_layer(self, name: str) -> "ArticleState":
        """A copy without layer ``name``, so that it is made again."""
        return self.model_copy(update={"layers": {key: state for key, state in self.layers.items() if key != name}})

    def with_spent(self, layer: str, usage: Iterable[Usage]) -> "ArticleState":
        """A copy with this usage added."""
        spent = total([*self.spent.get(layer, ()), *usage])
        return self.model_copy(update={"spent": {**self.spent, layer: spent}}) if spent else self


def version_id(output_hash: str) -> str:
    """The name of a version's folder."""
    return output_hash[:16]


def load_state(layout: Layout, article_id: str) -> ArticleState:
    """Load the article's state: empty if nothing was made yet, from its copy if the file is damaged or gone.

    Damage is described in ``damage``. If both files are damaged, the rest of the state is empty
    (see :mod:`kb_pipeline.flow.recovery`).
    """
    read = kept_state(layout, article_id).read()
    state = read.value or ArticleState(article_id=article_id)
    return state.model_copy(update={"damage": read.damage}) if read.damage else state


def kept_state(layout: Layout, article_id: str) -> DurableRecord[ArticleState]:
    """The record of the state, with its second copy."""
    layout.state(article_id)  # raises if the id is invalid
    return DurableRecord(layout.home, f"{_FOLDER}/{article_id}.json", partial(_parse, article_id))


def _parse(article_id: str, data: bytes) -> ArticleState:
    state = ArticleState.model_validate_json(data)
    if state.article_id != article_id:
        raise ValueError(f"it is the state of {state.article_id}")
    return state


def known_articles(layout: Layout) -> list[str]:
    """Ids of all articles that have a state, in order of name."""
    names = names_in(layout.home / _FOLDER) | copied_names(layout.home, _FOLDER)
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json") and not name.startswith("."))


def load_states(layout: Layout) -> Iterator[ArticleState]:
    """The states of all articles that have one."""
    missing = copied_names(layout.home, _FOLDER) - names_in(layout.home / _FOLDER)
    for article_id, data in read_all(layout.home / _FOLDER, ".json"):
        try:
            yield _parse(article_id, unseal(f"{_FOLDER}/{article_id}.json", data))
        except ValueError:
            yield load_state(layout, article_id)
    for name in sorted(missing):
        if name.endswith(".json") and (state := load_state(layout, name.removesuffix(".json"))).damage:
            yield state


def save_state(layout: Layout, state: ArticleState) -> None:
    """Write the state and its second copy."""
    kept_state(layout, state.article_id).write(state.model_dump_json(exclude_defaults=True).encode())


def remove_state(layout: Layout, article_id: str) -> None:
    """Remove the state and its second copy."""
    kept_state(layout, article_id).remove()


Reports = Mapping[str, Mapping[str, Scalar | Markdown | Table]]
_REPORTS: TypeAdapter[Reports] = TypeAdapter(dict[str, dict[str, Scalar | Markdown | Table]])


def load_reports(layout: Layout, article_id: str) -> Reports | None:
    """The report of each layer, kept apart from the state, which is read more often.

    ``None`` if there are none or the file is damaged. Reports are only displayed, and can be made again.
    """
    path = layout.reports(article_id)
    try:
        return _REPORTS.validate_json(unseal(f"reports/{article_id}", read_bytes(path))) if path.is_file() else None
    except ValueError:
        return None


def save_reports(layout: Layout, article_id: str, reports: Reports) -> None:
    """Write the reports of all layers."""
    data = seal(f"reports/{article_id}", _REPORTS.dump_json(dict(reports)))
    write_bytes(layout.reports(article_id), data)
