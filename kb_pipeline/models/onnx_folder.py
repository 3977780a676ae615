"""Any embedding model in a folder: sentence-transformers' files with an ONNX graph (``KB_EMBEDDER=onnx/FOLDER``).

Here: the graph's inputs and outputs as vectors. Not here: what the folder's files say, and reading them.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.onnx_embedder import OnnxEmbedder, TokenIds
from kb_pipeline.models.onnx_graph import Graph, Port, find_graph, read_graph
from kb_pipeline.models.pooling import POOLINGS, Floats, read_dense
from kb_pipeline.models.sentence_transformer import Description, read_description
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_TOKENIZER = "tokenizer.json"
_EXPORT = "export the model again: optimum-cli export onnx --model MODEL --task feature-extraction FOLDER"

_INPUTS: dict[str, Callable[[TokenIds], TokenIds]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
    "position_ids": lambda ids: np.arange(ids.shape[1])[None],
}
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxFolderEmbedder(OnnxEmbedder):
    """The model of a folder, or of one graph in it; another file in it makes another model.

    A graph's ``sentence_embedding`` is the vector; one that tells only its last layer (``last_hidden_state``,
    ``token_embeddings``) is pooled as the folder says. With that layer come the vectors of words, unless the text's
    are made by a dense layer from it, and so are of another kind.
    """

    def __init__(self, settings: Settings) -> None:
        """Read what the folder says; the graph is loaded with the first text.

        Raises:
            SettingsError: the setting names no folder.
            ModelError: the folder's model is damaged, or has a part that is not known here.
        """
        place = _place(settings)
        self.folder = _folder_of(place)
        self.graph_file = place if place.is_file() else find_graph(place)
        self._memory = settings.home_path / "models"
        self.description = read_description(self.folder)
        graph = read_graph(self.graph_file, self._memory)
        self._inputs = {port.name: _input_type(port, self.graph_file) for port in graph.inputs}
        self._outputs, self.dimensions = _outputs(graph, self.description, self.folder)
        self.model_id = self._identity(graph)
        self.max_tokens = self.description.max_tokens
        self.question_prompt, self.passage_prompt = self.description.question_prompt, self.description.passage_prompt
        self.word_vectors = "tokens" in self._outputs and not self.description.dense

    def _forward(self, ids: TokenIds, *, words: bool) -> tuple[Vectors, Vectors]:
        wanted = {part: name for part, name in self._outputs.items() if words or part == next(iter(self._outputs))}
        feed: dict[str, TokenIds] = {name: _INPUTS[name](ids).astype(kind) for name, kind in self._inputs.items()}
        session = self._session
        try:
            results = session.run(list(wanted.values()), feed)
        except Exception as exc:  # onnxruntime's have no other base
            raise ModelError(f"{self.graph_file} cannot embed a text of {ids.shape[1]} tokens: {exc}") from exc
        found = {part: np.asarray(result[0], np.float32) for part, result in zip(wanted, results, strict=True)}
        vector = found["sentence"] if "sentence" in found else self._pooled(found["tokens"])
        return vector[None], found["tokens"] if words else vector[None][:0]

    def _pooled(self, tokens: Floats) -> Floats:
        vector = POOLINGS[self.description.pooling](tokens)
        for layer in self._layers:
            vector = layer(vector)
        return vector

    @cached_property
    def _layers(self) -> Sequence[Callable[[Floats], Floats]]:
        return [read_dense(layer.weights, layer.activation) for layer in self.description.dense]

    def _read_tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer, normalizers

        path = self.folder / _TOKENIZER
        try:
            tokenizer = Tokenizer.from_buffer(_read(path))
        except Exception as exc:  # the library's have no other base
            raise ModelError(f"{path} cannot be read: {exc}; fetch the model again") from exc
        if self.description.lower_case:
            rest = [tokenizer.normalizer] if tokenizer.normalizer else []
            tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])
        return tokenizer

    def _model_file(self) -> Path:
        if self._identity(read_graph(self.graph_file, self._memory)) != self.model_id:
            raise ModelError(f"{self.folder} holds another model than at the start; start again to use that one")
        return self.graph_file

    def _identity(self, graph: Graph) -> str:
        """The folder's name, and the hash of all that a vector depends on."""
        said = self.description.model_dump(exclude={"dense"})
        layers = [(sha256(_read(layer.weights)), layer.activation) for layer in self.description.dense]
        content = fingerprint(graph.sha256, sha256(_read(self.folder / _TOKENIZER)), said, layers)
        return f"{self.folder.name}-{content[:12]}"


def _place(settings: Settings) -> Path:
    """The folder or graph that the setting names; relative ones are in the home folder, where every process looks."""
    name = settings.embedder.partition("/")[2]
    if not name:
        raise SettingsError("KB_EMBEDDER is 'onnx'; say which folder holds the model: onnx//path/to/folder")
    place = settings.home_path / Path(name).expanduser()
    if not place.exists():
        raise SettingsError(f"KB_EMBEDDER names {place}, which is not there (relative paths start in KB_HOME)")
    return place


def _folder_of(place: Path) -> Path:
    """The folder with the tokenizer: that of the graph, or the one above."""
    folders = (place,) if place.is_dir() else (place.parent, place.parent.parent)
    for folder in folders:
        if (folder / _TOKENIZER).is_file():
            return folder
    raise ModelError(
        f"{folders[-1]} has no {_TOKENIZER}, without which text cannot be read; fetch it with the model, or make it: "
        f"AutoTokenizer.from_pretrained(MODEL).save_pretrained({str(folders[-1])!r})"
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc}; check that it is there and may be read") from exc


def _input_type(port: Port, path: Path) -> type:
    """Of an input that takes one text of any length."""
    if port.name not in _INPUTS or port.type not in _TYPES:
        raise ModelError(f"{path} wants {port.name!r} of {port.type}, which an embedding model does not; {_EXPORT}")
    texts, tokens = port.shape if len(port.shape) == 2 else (None, 0)
    if texts not in (None, 1) or tokens is not None:
        raise ModelError(
            f"{path} takes {port.name!r} of shape {port.shape} only, not one text of any length; {_EXPORT}"
        )
    return _TYPES[port.type]


def _outputs(graph: Graph, description: Description, folder: Path) -> tuple[dict[str, str], int]:
    """Names of the outputs that are used, the one that makes the vector first, and the vector's dimensions."""
    layers = [port for port in graph.outputs if len(port.shape) == 3]
    tokens = graph.output("last_hidden_state", "token_embeddings") or (layers[0] if len(layers) == 1 else None)
    sentence = graph.output("sentence_embedding")
    if sentence is None and (tokens is None or not description.pooling):
        raise ModelError(_unpooled(graph, folder))
    used = {part: port.name for part, port in (("sentence", sentence), ("tokens", tokens)) if port}
    told = sentence or (None if description.dense else tokens)
    if not (width := (told.shape[-1] if told else None) or description.width):
        raise ModelError(f"{folder} does not say how many dimensions its vectors have; add config.json: hidden_size")
    if sentence and tokens and tokens.shape[-1] not in (None, width):
        del used["tokens"]  # what follows the pooling makes vectors of another kind
    return used, width


def _unpooled(graph: Graph, folder: Path) -> str:
    names = ", ".join(port.name for port in graph.outputs)
    return (
        f"{folder} does not say how tokens' vectors become the text's (its graph tells {names}); add "
        f'{folder / "1_Pooling" / "config.json"}: {{"pooling_mode_mean_tokens": true}}, or cls_token, as its authors do'
    )
