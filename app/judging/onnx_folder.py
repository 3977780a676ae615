"""An entailment model in a folder as a judge (``KB_JUDGE=onnx/FOLDER``), run in onnxruntime on the CPU.

Any sequence classifier for natural language inference: ``model.onnx``, ``tokenizer.json``, and ``config.json``, whose
``id2label`` names entailment, and contradiction if the model tells it from neutral.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field, ValidationError

from app.callers.work_pool import WorkPool
from app.grounding.statements import Statement
from app.judging.base import Judge, Judged, Verdict, cited_by
from app.language.sentences import Unit, units_of
from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models.base import encodable
from kb_pipeline.models.onnx_embedder import find_graph, open_session
from kb_pipeline.steps.chunk.plain import plain_text

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Encoding, Tokenizer

Values = npt.NDArray[np.float32]
TokenIds = npt.NDArray[np.int64]

_THREADS = 2
"""Threads of a model at work; only one answer is checked at a time, so that those being written are not held up."""
_MOST_WAITING = 32
"""Answers that wait for the judge; a reader of one behind them is told that it is busy."""
_SENTENCES, _STEP = 3, 2
"""A window has three sentences, and shares one with the next: what two neighbours say together is in one of them."""
_MOST_TOKENS = 512
"""The window of BERT and its kin, with which most entailment models are made."""
_ENOUGH = 0.5
"""A window decides if one label is more probable than all others together."""
_SAME, _OTHERWISE = "entail", "contradict"
"""How the names of the labels begin, whatever their case."""
_EXPORT = "export it: optimum-cli export onnx --model MODEL --task text-classification FOLDER"


class Window(NamedTuple):
    """Some sentences of a passage: ``said`` as they stand there, ``premise`` as plain text below their heading."""

    passage: int
    said: str
    premise: str


class Chances(NamedTuple):
    """How probable it is that a window says the same, and otherwise."""

    same: float
    otherwise: float


class Labels(BaseModel):
    """What ``config.json`` says of the model's labels, by their numbers."""

    id2label: dict[int, str] = Field(min_length=2)

    def chances(self, logits: Values) -> Chances:
        """The probabilities of the labels that matter."""
        powers = np.exp(logits - logits.max())
        shares = dict(zip(sorted(self.id2label), powers / powers.sum(), strict=True))
        return Chances(*(float(sum(shares[at] for at in self._named(name))) for name in (_SAME, _OTHERWISE)))

    @property
    def tells_entailment(self) -> bool:
        """Whether one of them is entailment, and another is not."""
        return 0 < len(self._named(_SAME)) < len(self.id2label)

    def _named(self, beginning: str) -> list[int]:
        return [at for at, label in self.id2label.items() if label.lower().startswith(beginning)]


class OnnxFolderJudge(Judge):
    """Compares each statement with all windows of its passages.

    One window that says the same supports it, whatever the others say; else one that says otherwise contradicts it.
    """

    def __init__(self, name: str) -> None:
        """Read what the folder of this name says; the graph is loaded with the first statement.

        Raises:
            SettingsError: the setting names no folder.
            ModelError: a file of the model is missing or damaged.
        """
        self.name = name
        place = _place(name)
        is_graph = place.is_file()
        self._graph_file = place if is_graph else find_graph(place, setting="KB_JUDGE", task="text-classification")
        folder = place.parent if is_graph else place
        if folder.name == "onnx":  # where exports put several graphs of one model
            folder = folder.parent
        self._labels = _read_labels(folder / "config.json")
        self._tokenizer = _read_tokenizer(folder / "tokenizer.json")
        self._pool = WorkPool("checking answers", at_once=1, most_waiting=_MOST_WAITING)

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        def work() -> list[Verdict | None]:
            windows = {number: list(windows_of(number, text)) for number, text in passages.items()}
            return [self._verdict(each.text, [windows[n] for n in cited_by(each, passages)]) for each in statements]

        return Judged(await self._pool.run(work))

    async def close(self) -> None:
        self._pool.close()

    def _verdict(self, statement: str, passages: Sequence[Sequence[Window]]) -> Verdict | None:
        windows = [window for passage in passages for window in passage]
        if not windows:
            return None
        hypothesis = " ".join(plain_text(statement).split())
        chances = {window: self._chances(window.premise, hypothesis) for window in windows}
        nearest = max(windows, key=lambda window: chances[window].same)
        if chances[nearest].same > _ENOUGH:
            return Verdict("supported", nearest.passage, nearest.said)
        farthest = max(windows, key=lambda window: chances[window].otherwise)
        if chances[farthest].otherwise > _ENOUGH:
            return Verdict("contradicted", farthest.passage, farthest.said)
        return Verdict("unsupported")

    def _chances(self, premise: str, hypothesis: str) -> Chances:
        encoding = self._tokenizer.encode(encodable(premise), encodable(hypothesis))
        try:
            fed = {port.name: _INPUTS[port.name](encoding) for port in self._session.get_inputs()}
            logits = np.asarray(self._session.run(None, fed)[0], np.float32)
            return self._labels.chances(logits.reshape(-1))
        except Exception as exc:  # the errors of onnxruntime have no other base class
            raise ModelError(f"{self._graph_file} cannot compare two texts: {exc}; {_EXPORT}") from exc

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        return open_session(self._graph_file, _THREADS)


_INPUTS: Mapping[str, Callable[["Encoding"], TokenIds]] = {
    "input_ids": lambda encoding: np.array([encoding.ids], np.int64),
    "attention_mask": lambda encoding: np.array([encoding.attention_mask], np.int64),
    "token_type_ids": lambda encoding: np.array([encoding.type_ids], np.int64),
}


_ABOVE = ("heading", "term", "header")
"""Units that belong to those below them, from the outermost on; the head of a table only to its rows."""


def windows_of(number: int, passage: str) -> Iterator[Window]:
    """Cut a passage into windows; each begins with the heading, the term and the head of the table above it."""
    above: dict[str, str] = {}
    run: list[Unit] = []
    for unit in units_of(passage):
        is_above = unit.kind in _ABOVE
        if is_above or ("header" in above and unit.kind != "row"):
            yield from _windows(number, passage, above, run)
            staying = _ABOVE[: _ABOVE.index(unit.kind)] if is_above else _ABOVE[:-1]
            above, run = {kind: text for kind, text in above.items() if kind in staying}, []
        if is_above:
            above[unit.kind] = plain_text(unit.text)
        else:
            run.append(unit)
    yield from _windows(number, passage, above, run)


def _windows(number: int, passage: str, above: Mapping[str, str], run: Sequence[Unit]) -> Iterator[Window]:
    for start in range(0, len(run) - 1 or len(run), _STEP):
        shown = run[start : start + _SENTENCES]
        premise = ". ".join([*above.values(), " ".join(plain_text(each.text) for each in shown)])
        yield Window(number, passage[shown[0].start : shown[-1].end], " ".join(premise.split()))


def _place(name: str) -> Path:
    """The folder, or the graph in it, that the setting names."""
    written = name.partition("/")[2]
    if not written:
        raise SettingsError("KB_JUDGE is onnx; say which folder holds the model: onnx//path/to/folder")
    place = Path(written).expanduser()
    if not place.exists():
        raise SettingsError(f"KB_JUDGE names {place}, which is not there")
    return place


def _read_labels(path: Path) -> Labels:
    try:
        labels = Labels.model_validate_json(path.read_bytes())
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc.strerror}; {_EXPORT}") from exc
    except ValidationError:
        labels = None
    if labels is None or not labels.tells_entailment:
        raise ModelError(
            f"{path} does not say which label is entailment; take a model for natural language inference, whose "
            'id2label is like {"0": "entailment", "1": "neutral", "2": "contradiction"}'
        )
    return labels


def _read_tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except Exception as exc:  # the errors of the library have no other base class
        raise ModelError(f"{path} cannot be read: {exc}; {_EXPORT}") from exc
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.no_padding()
    return tokenizer
