"""Encoders that run in onnxruntime on the CPU: from the tokens of a text to its vector and those of its words.

Here: what all such models share, including how graphs are found and loaded. Single models do not belong here.
"""

import hashlib
import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError
from kb_pipeline.languages import telling_words
from kb_pipeline.models.base import EmbeddedQuestion, Embedder, Vectors, encodable
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import fingerprint, seal, unseal
from kb_pipeline.steps.late_interaction import EmbeddedPassage, pack_words

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Encoding, Tokenizer


_SUFFIX = ".onnx"
_USUAL = ("model.onnx", "onnx/model.onnx")
_FORMAT = 1
"""Raise it when the cached description of a graph changes."""


class Port(Record):
    """An input or output of a graph: its type ("tensor(int64)") and sizes, ``None`` for free ones."""

    name: str
    type: str
    shape: tuple[int | None, ...]


class Graph(Record):
    """The hash of a graph, and its inputs and outputs."""

    sha256: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def output(self, *names: str) -> Port | None:
        """Return the first of these outputs that exists."""
        outputs = {port.name: port for port in self.outputs}
        return next((outputs[name] for name in names if name in outputs), None)


def find_graph(folder: Path, setting: str = "KB_EMBEDDER", task: str = "feature-extraction") -> Path:
    """Return the graph of a folder: ``model.onnx`` or ``onnx/model.onnx``, or else the only one.

    Errors name the ``setting`` that chose the folder, and the ``task`` to export the model for.

    Raises:
        ModelError: there is no graph, or more than one.
    """
    for name in _USUAL:
        if (folder / name).is_file():
            return folder / name
    graphs = sorted(path for place in ("", "onnx") for path in (folder / place).glob(f"*{_SUFFIX}") if path.is_file())
    if len(graphs) == 1:
        return graphs[0]
    if graphs:
        names = ", ".join(path.relative_to(folder).as_posix() for path in graphs)
        raise ModelError(f"{folder} has several graphs ({names}); name one: {setting}=onnx/{graphs[0]}")
    raise ModelError(
        f"{folder} has no ONNX graph (model.onnx or onnx/*.onnx); export the model: "
        f"optimum-cli export onnx --model MODEL --task {task} {folder}"
    )


def read_graph(path: Path, memory: Path) -> Graph:
    """Inspect a graph; the result is cached in the folder ``memory``, which need not be writable.

    Raises:
        ModelError: onnxruntime cannot load it.
    """
    files = [path, *sorted(file for file in path.parent.glob(f"{path.name}?*") if file.is_file())]
    sizes = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = fingerprint(_FORMAT, sizes)
    cached = memory / f"{path.stem}.{key[:16]}.json"
    try:
        return Graph.model_validate_json(unseal(cached.name, cached.read_bytes()))
    except (OSError, ValueError):
        session = open_session(path, 1, optimised=False)
        graph = Graph(
            sha256=_digest(files),
            inputs=tuple(map(_port, session.get_inputs())),
            outputs=tuple(map(_port, session.get_outputs())),
        )
        _write_cache(cached, graph)
        return graph


def open_session(path: Path, threads: int, *, optimised: bool = True) -> "onnxruntime.InferenceSession":
    """Load a graph to run it on the CPU.

    Raises:
        ModelError: onnxruntime cannot load it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # hide advice for the author of the graph
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(
            path,
            options,
            providers=["CPUExecutionProvider"],
            # The fused kernel takes 0.28 ms, addition and normalisation apart take 0.05 ms (onnxruntime 1.31).
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as exc:  # the errors of onnxruntime have no other base class
        raise ModelError(f"{path} cannot be loaded: {_first_line(exc)}; fetch or export the model again") from exc


def _port(node: "onnxruntime.NodeArg") -> Port:
    shape = tuple(size if isinstance(size, int) else None for size in node.shape)
    return Port(name=node.name, type=node.type, shape=shape)


def _digest(files: Sequence[Path]) -> str:
    """The hash of the graph and of the weights next to it (``model.onnx_data``)."""
    digests = []
    try:
        for file in files:
            with file.open("rb") as content:
                digests.append(hashlib.file_digest(content, "sha256").hexdigest())
    except OSError as exc:
        raise ModelError(f"{files[0]} cannot be read: {exc}; check that its files may be read") from exc
    return fingerprint(*digests)


def _write_cache(path: Path, graph: Graph) -> None:
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(seal(path.name, graph.model_dump_json().encode()))
        temporary.replace(path)
    except OSError:
        return  # without the cache, only the next start takes longer


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]


_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

Positions = npt.NDArray[np.intp]


class Pieces(NamedTuple):
    """Tokens of a text: ``ids``, shape (pieces,), and the positions of those that belong to words.

    Tokens without a letter or digit, and tokens that the model adds itself, do not belong to words. ``starts`` are the
    places in the text at which those of words begin.
    """

    ids: npt.NDArray[np.int64]
    words: Positions
    starts: tuple[int, ...]

    def distinct(self) -> Positions:
        """Positions of the first occurrence of each word token; a passage need not store repetitions."""
        first = np.unique(self.ids[self.words], return_index=True)[1]
        return self.words[np.sort(first)]


def pieces_of(tokenizer: "Tokenizer", text: str, max_tokens: int, *, prompt: str = "") -> Pieces:
    """Return the first ``max_tokens`` tokens of prompt and text, including those that the model adds; the prompt has no
    words.
    """
    whole = prompt + text
    encoding = _encoded(tokenizer, whole, max_tokens)
    spans = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    words = {
        position: found.start() - len(prompt)
        for position, ((start, end), is_special) in enumerate(spans)
        if not is_special and (found := _LETTER_OR_DIGIT.search(whole, max(start, len(prompt)), end))
    }
    return Pieces(np.array(encoding.ids, np.int64), np.array([*words], np.intp), tuple(words.values()))


def _encoded(tokenizer: "Tokenizer", text: str, max_tokens: int) -> "Encoding":
    encoding = tokenizer.encode(text)
    if len(encoding) <= max_tokens:
        return encoding
    bare = tokenizer.encode(text, add_special_tokens=False)
    bare.truncate(max_tokens - tokenizer.num_special_tokens_to_add(is_pair=False))
    return tokenizer.post_process(bare)


TokenIds = npt.NDArray[np.int64]


class OnnxEmbedder(Embedder):
    """A tokenizer and a graph; a backend provides both and runs the graph.

    Texts are embedded one at a time. On one thread that is as fast as any batch, which pays for its padding. It also
    makes the vector of a text independent of other texts, which int8 activations in a batch would not.
    """

    batch_size: ClassVar[int] = 1
    threads: int = 1
    question_prompt: str = ""
    passage_prompt: str = ""

    @abstractmethod
    def _read_tokenizer(self) -> "Tokenizer":
        """Read the model's tokenizer; its truncation and padding are switched off later."""

    @abstractmethod
    def _model_file(self) -> Path:
        """Return the path of the graph; create the file if needed."""

    @abstractmethod
    def _forward(self, ids: TokenIds, *, words: bool) -> tuple[Vectors, Vectors]:
        """Run the graph for token ids of shape (1, tokens).

        Return the vector of the text, shape (1, dimensions), and those of its tokens, shape (tokens, dimensions), or
        none of them unless ``words`` is set. Vectors have any norm.
        """

    def prepare(self) -> None:
        """Create the file of the graph unless it exists, and load it."""
        _ = self._session

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as passages, each cut to ``max_tokens``."""
        all_ids = (self._pieces(text, self.passage_prompt).ids for text in texts)
        return np.vstack([self._forward(ids[None], words=False)[0] for ids in all_ids])

    def embed_question(self, text: str) -> EmbeddedQuestion:
        """Embed a question, cut to ``max_tokens``, with its word vectors."""
        text = encodable(text)
        pieces = self._pieces(text, self.question_prompt)
        vector, tokens = self._forward(pieces.ids[None], words=self.word_vectors)
        unit = self._checked(vector, 1)[0]
        if not self.word_vectors:
            return EmbeddedQuestion(unit)
        of_each = (tuple(at for at, start in enumerate(pieces.starts) if start in word) for word in telling_words(text))
        return EmbeddedQuestion(unit, self._unit(tokens[pieces.words]), tuple(filter(None, of_each)))

    def embed_passages(self, texts: Sequence[str]) -> list[EmbeddedPassage]:
        """Embed passages, each cut to ``max_tokens``, with the vectors of their distinct words."""
        return [self._embed_passage(encodable(text)) for text in texts]

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode_batch_fast([self.passage_prompt + encodable(text)])[0].ids)

    def _embed_passage(self, text: str) -> EmbeddedPassage:
        pieces = self._pieces(text, self.passage_prompt)
        vector, tokens = self._forward(pieces.ids[None], words=self.word_vectors)
        words = pack_words(self._unit(tokens[pieces.distinct()])) if self.word_vectors else b""
        return EmbeddedPassage(self._checked(vector, 1)[0], words)

    def _unit(self, words: Vectors) -> Vectors:
        return self._checked(words, len(words)) if len(words) else np.zeros((0, self.dimensions), np.float32)

    def _pieces(self, text: str, prompt: str) -> Pieces:
        return pieces_of(self._tokenizer, text, self.max_tokens, prompt=prompt)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        tokenizer = self._read_tokenizer()
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        return open_session(self._model_file(), self.threads)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out all cached properties, because each process loads the model itself."""
        attributes = [item for kind in type(self).__mro__ for item in vars(kind).items()]
        cached = {name for name, value in attributes if isinstance(value, cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in cached}
