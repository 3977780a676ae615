"""Any embedding model in a folder with sentence-transformers' files and an ONNX graph (``KB_EMBEDDER=onnx/FOLDER``).

Here: reading the folder's configuration, and turning the graph's outputs into vectors. Running graphs is in
``onnx_embedder``.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field, RootModel, ValidationError

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.onnx_embedder import Graph, OnnxEmbedder, Port, TokenIds, find_graph, read_graph
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256

if TYPE_CHECKING:
    from tokenizers import Tokenizer


Floats = npt.NDArray[np.float32]

POOLINGS: Mapping[str, Callable[[Floats], Floats]] = {
    "cls": lambda tokens: tokens[0],
    "max": lambda tokens: tokens.max(axis=0),
    "mean": lambda tokens: tokens.mean(axis=0),
    "lasttoken": lambda tokens: tokens[-1],
}
"""Ways of pooling by name: from the vectors of the tokens, shape (tokens, d), to that of the text, shape (d,)."""

_LARGEST_CONFIG = 1 << 20
"""Bytes; files of real models have some kilobytes."""
_USUAL_WINDOW = 512
"""Tokens that models of the family of BERT read, if the files do not say."""
_PUBLISHED = "take the folder as the model's authors publish it"
_CHOOSE_ANOTHER = (
    "choose another model (KB_EMBEDDER), or export this one with its pooling inside, as sentence_embedding"
)
_QUESTIONS, _PASSAGES = ("query",), ("document", "passage", "corpus")
"""Names of prompts, in the order in which sentence-transformers looks for them."""

Config = TypeVar("Config", bound=BaseModel)


class Description(Record):
    """The configuration of a folder. ``pooling`` is "" if the graph pools; ``lower_case``: lower-case texts first.

    ``width`` is the number of dimensions of the vectors; ``None`` if the folder does not say it.
    """

    pooling: str = ""
    question_prompt: str = ""
    passage_prompt: str = ""
    max_tokens: int = _USUAL_WINDOW
    lower_case: bool = False
    width: int | None = None


def read_description(folder: Path) -> Description:
    """Read the configuration files that exist; defaults are those of sentence-transformers.

    Raises:
        ModelError: a file is damaged, or the model has a part that is not supported.
    """
    modules = _config(folder / "modules.json", _Modules, _Modules([])).root
    pooling = ""
    for module in modules or [_Module(type="Pooling", path="1_Pooling")]:
        place = folder / _inside(folder, module.path)
        match module.type.rpartition(".")[2]:
            case "Transformer" | "Normalize":
                pass  # all vectors are normalised anyway
            case "Pooling":
                pooling = _pooling(place / "config.json")
            case other:
                raise ModelError(f"{folder} has a module {other!r}, which is not supported; {_CHOOSE_ANOTHER}")
    texts = _config(folder / "sentence_bert_config.json", _Texts, _Texts())
    prompts = _config(folder / "config_sentence_transformers.json", _Prompts, _Prompts())
    return Description(
        pooling=pooling,
        question_prompt=prompts.first(_QUESTIONS),
        passage_prompt=prompts.first(_PASSAGES),
        max_tokens=texts.max_seq_length or _window(folder),
        lower_case=texts.do_lower_case,
        width=_config(folder / "config.json", _Transformer, _Transformer()).hidden_size,
    )


class _Module(BaseModel):
    type: str
    path: str = ""


class _Modules(RootModel[list[_Module]]):
    pass


class _Texts(BaseModel):
    max_seq_length: int | None = Field(default=None, ge=8)
    do_lower_case: bool = False


class _Prompts(BaseModel):
    prompts: dict[str, str] = {}
    default_prompt_name: str | None = None

    def first(self, names: tuple[str, ...]) -> str:
        """Return the first of these prompts that exists, or else the default one."""
        existing = (self.prompts[name] for name in (*names, self.default_prompt_name) if name in self.prompts)
        return next(existing, "")


class _Transformer(BaseModel):
    """``config.json`` and ``tokenizer_config.json`` of the transformer itself."""

    hidden_size: int | None = None
    model_max_length: float | None = None
    max_position_embeddings: float | None = None


class _PoolingConfig(RootModel[dict[str, Any]]):
    def modes(self) -> Iterator[str]:
        """Yield the names of the pooling modes, set by name or by flags such as ``pooling_mode_cls_token``."""
        if isinstance(named := self.root.get("pooling_mode"), str):
            yield named
        for key, value in self.root.items():
            if value is True and key.startswith("pooling_mode_"):
                yield key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens")


def _pooling(path: Path) -> str:
    modes = sorted(set(_config(path, _PoolingConfig, _PoolingConfig({})).modes()))
    if not modes:
        return ""
    if len(modes) > 1 or modes[0] not in POOLINGS:
        supported = ", ".join(POOLINGS)
        raise ModelError(
            f"{path} pools by {' and '.join(modes)}; only one of {supported} is supported; {_CHOOSE_ANOTHER}"
        )
    return modes[0]


def _window(folder: Path) -> int:
    """The smallest limit in the files of the transformer, in tokens."""
    limits: list[float | None] = []
    for name in ("tokenizer_config.json", "config.json"):
        config = _config(folder / name, _Transformer, _Transformer())
        limits += [config.model_max_length, config.max_position_embeddings]
    return max(8, int(min(filter(None, limits), default=_USUAL_WINDOW)))


def _config(path: Path, kind: type[Config], absent: Config | None = None) -> Config:
    try:
        if absent is not None and not path.is_file():
            return absent
        if path.stat().st_size > _LARGEST_CONFIG:
            raise ModelError(f"{path} is larger than a configuration can be; {_PUBLISHED}")
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as exc:
        error = exc.errors()[0]
        field = ".".join(map(str, error["loc"]))
        raise ModelError(f"{path} cannot be read: {field} {error['msg']}; {_PUBLISHED}") from None
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc}; {_PUBLISHED}") from exc


def _inside(folder: Path, path: str) -> PurePosixPath:
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts:
        raise ModelError(f"{folder / 'modules.json'} names {path!r}, which is outside of the folder; {_PUBLISHED}")
    return relative


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
    """The model of a folder, or of one graph in it; changing a file makes it another model.

    If the graph has an output ``sentence_embedding``, that is the vector. If it has only its last layer
    (``last_hidden_state``, ``token_embeddings``), that is pooled as the folder says. The last layer also provides the
    word vectors.
    """

    def __init__(self, settings: Settings) -> None:
        """Read the folder's configuration; the graph is loaded with the first text.

        Raises:
            SettingsError: the setting names no folder.
            ModelError: the model is damaged, or has a part that is not supported.
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
        self.word_vectors = "tokens" in self._outputs

    def _forward(self, ids: TokenIds, *, words: bool) -> tuple[Vectors, Vectors]:
        outputs = {part: name for part, name in self._outputs.items() if words or part == next(iter(self._outputs))}
        feed: dict[str, TokenIds] = {name: _INPUTS[name](ids).astype(kind) for name, kind in self._inputs.items()}
        session = self._session
        try:
            results = session.run(list(outputs.values()), feed)
        except Exception as exc:  # the errors of onnxruntime have no other base class
            raise ModelError(f"{self.graph_file} cannot embed a text of {ids.shape[1]} tokens: {exc}") from exc
        arrays = {part: np.asarray(result[0], np.float32) for part, result in zip(outputs, results, strict=True)}
        vector = arrays["sentence"] if "sentence" in arrays else POOLINGS[self.description.pooling](arrays["tokens"])
        return vector[None], arrays["tokens"] if words else vector[None][:0]

    def _read_tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer, normalizers

        path = self.folder / _TOKENIZER
        try:
            tokenizer = Tokenizer.from_buffer(_read(path))
        except Exception as exc:  # the errors of the library have no other base class
            raise ModelError(f"{path} cannot be read: {exc}; fetch the model again") from exc
        if self.description.lower_case:
            others = [tokenizer.normalizer] if tokenizer.normalizer else []
            tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *others])
        return tokenizer

    def _model_file(self) -> Path:
        if self._identity(read_graph(self.graph_file, self._memory)) != self.model_id:
            raise ModelError(f"{self.folder} holds another model than at the start; start again to use that one")
        return self.graph_file

    def _identity(self, graph: Graph) -> str:
        """The name of the folder, and a hash of everything that a vector depends on."""
        configuration, tokenizer = self.description.model_dump(), sha256(_read(self.folder / _TOKENIZER))
        content = fingerprint(graph.sha256, tokenizer, configuration, [])  # the list keeps the ids of earlier releases
        return f"{self.folder.name}-{content[:12]}"


def _place(settings: Settings) -> Path:
    """The folder or graph that the setting names; relative paths start in KB_HOME, for every process."""
    name = settings.embedder.partition("/")[2]
    if not name:
        raise SettingsError("KB_EMBEDDER is 'onnx'; say which folder holds the model: onnx//path/to/folder")
    place = settings.home_path / Path(name).expanduser()
    if not place.exists():
        raise SettingsError(f"KB_EMBEDDER names {place}, which is not there (relative paths start in KB_HOME)")
    return place


def _folder_of(place: Path) -> Path:
    """The folder with the tokenizer: the one of the graph, or the one above."""
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
    """The type of an input that takes one text of any length."""
    if port.name not in _INPUTS or port.type not in _TYPES:
        raise ModelError(f"{path} wants {port.name!r} of {port.type}, which an embedding model does not; {_EXPORT}")
    texts, tokens = port.shape if len(port.shape) == 2 else (None, 0)
    if texts not in (None, 1) or tokens is not None:
        raise ModelError(
            f"{path} takes {port.name!r} of shape {port.shape} only, not one text of any length; {_EXPORT}"
        )
    return _TYPES[port.type]


def _outputs(graph: Graph, description: Description, folder: Path) -> tuple[dict[str, str], int]:
    """The names of the outputs to use, the one that makes the vector first, and the dimensions of the vector."""
    layers = [port for port in graph.outputs if len(port.shape) == 3]
    tokens = graph.output("last_hidden_state", "token_embeddings") or (layers[0] if len(layers) == 1 else None)
    sentence = graph.output("sentence_embedding")
    if sentence is None and (tokens is None or not description.pooling):
        raise ModelError(
            f"{folder} does not say how tokens' vectors become the text's (its graph has the outputs "
            f"{', '.join(port.name for port in graph.outputs)}); add {folder / '1_Pooling' / 'config.json'}: "
            '{"pooling_mode_mean_tokens": true}, or cls_token, as its authors do'
        )
    used = {part: port.name for part, port in (("sentence", sentence), ("tokens", tokens)) if port}
    vector = sentence or tokens
    width = (vector.shape[-1] if vector else None) or description.width
    if not width:
        raise ModelError(f"{folder} does not say how many dimensions its vectors have; add config.json: hidden_size")
    if sentence and tokens and tokens.shape[-1] not in (None, width):
        del used["tokens"]  # a layer after the pooling makes vectors of another kind
    return used, width
