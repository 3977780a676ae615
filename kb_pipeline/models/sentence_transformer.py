"""A folder as sentence-transformers publishes it: what its files say about tokens, pooling and prompts.

Here: reading the description and refusing what is not known. Not here: the graph, and running it.
Format: https://sbert.net/docs/package_reference/util.html, ``modules.json`` and what it names.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel, Field, RootModel, ValidationError

from kb_pipeline.errors import ModelError
from kb_pipeline.models.pooling import ACTIVATIONS, POOLINGS
from kb_pipeline.records import Record

_LARGEST_CONFIG = 1 << 20
_USUAL_WINDOW = 512
_PUBLISHED = "take the folder as the model's authors publish it"
_QUESTIONS, _PASSAGES = ("query",), ("document", "passage", "corpus")
"""Names of prompts, as sentence-transformers looks for them."""

Config = TypeVar("Config", bound=BaseModel)


class Dense(Record):
    """A layer after pooling: its weights, a safetensors file, its activation function's name, and what comes out."""

    weights: Path
    activation: str
    width: int


class Description(Record):
    """What a folder says. ``pooling`` is "" if it is left to the graph; ``lower_case``: texts are made so first.

    ``width`` are the dimensions of the vectors; ``None`` if it is not said.
    """

    pooling: str = ""
    dense: tuple[Dense, ...] = ()
    question_prompt: str = ""
    passage_prompt: str = ""
    max_tokens: int = _USUAL_WINDOW
    lower_case: bool = False
    width: int | None = None


def read_description(folder: Path) -> Description:
    """Read the configuration files that there are; what is missing is as sentence-transformers has it.

    Raises:
        ModelError: a file is damaged, or the model has a part that is not known here.
    """
    modules = _config(folder / "modules.json", _Modules, _Modules([])).root
    pooling, dense = "", []
    for module in modules or [_Module(type="Pooling", path="1_Pooling")]:
        place = folder / _inside(folder, module.path)
        match module.type.rpartition(".")[2]:
            case "Transformer" | "Normalize":
                pass  # every vector is normalised
            case "Pooling":
                pooling = _pooling(place / "config.json")
            case "Dense":
                dense.append(_dense(place))
            case other:
                raise ModelError(f"{folder} has a module {other!r}, which is not known here; {_choose_another()}")
    texts = _config(folder / "sentence_bert_config.json", _Texts, _Texts())
    prompts = _config(folder / "config_sentence_transformers.json", _Prompts, _Prompts())
    return Description(
        pooling=pooling,
        dense=tuple(dense),
        question_prompt=prompts.first(_QUESTIONS),
        passage_prompt=prompts.first(_PASSAGES),
        max_tokens=texts.max_seq_length or _window(folder),
        lower_case=texts.do_lower_case,
        width=dense[-1].width if dense else _config(folder / "config.json", _Transformer, _Transformer()).hidden_size,
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
        """The prompt of the first of these names that is there, or else the default one."""
        found = (self.prompts[name] for name in (*names, self.default_prompt_name) if name in self.prompts)
        return next(found, "")


class _Transformer(BaseModel):
    """``config.json`` and ``tokenizer_config.json`` of the transformer itself."""

    hidden_size: int | None = None
    model_max_length: float | None = None
    max_position_embeddings: float | None = None


class _DenseConfig(BaseModel):
    out_features: int = Field(ge=1)
    activation_function: str = "torch.nn.modules.linear.Identity"


class _PoolingConfig(RootModel[dict[str, Any]]):
    def modes(self) -> Iterator[str]:
        """Names of the ways to pool: said by name, or by flags such as ``pooling_mode_cls_token``."""
        if isinstance(named := self.root.get("pooling_mode"), str):
            yield named
        for key, chosen in self.root.items():
            if chosen is True and key.startswith("pooling_mode_"):
                yield key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens")


def _pooling(path: Path) -> str:
    modes = sorted(set(_config(path, _PoolingConfig, _PoolingConfig({})).modes()))
    if not modes:
        return ""
    if len(modes) > 1 or modes[0] not in POOLINGS:
        known = ", ".join(POOLINGS)
        raise ModelError(f"{path} pools by {' and '.join(modes)}; known is one of {known}; {_choose_another()}")
    return modes[0]


def _dense(place: Path) -> Dense:
    config = _config(place / "config.json", _DenseConfig)
    activation = config.activation_function.rpartition(".")[2]
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ModelError(f"{place} has the activation {activation!r}; known are {known}; {_choose_another()}")
    weights = place / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"{weights} is missing (a pytorch_model.bin is not read: it can run code); {_PUBLISHED}")
    return Dense(weights=weights, activation=activation, width=config.out_features)


def _window(folder: Path) -> int:
    """The least that the files of the transformer itself say, in tokens."""
    said = [_config(folder / name, _Transformer, _Transformer()) for name in ("tokenizer_config.json", "config.json")]
    limits = [limit for each in said for limit in (each.model_max_length, each.max_position_embeddings) if limit]
    return max(8, int(min(limits))) if limits else _USUAL_WINDOW


def _config(path: Path, kind: type[Config], absent: Config | None = None) -> Config:
    try:
        if absent is not None and not path.is_file():
            return absent
        if path.stat().st_size > _LARGEST_CONFIG:
            raise ModelError(f"{path} is larger than a configuration can be; {_PUBLISHED}")
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ModelError(f"{path} cannot be read: {place} {first['msg']}; {_PUBLISHED}") from None
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc}; {_PUBLISHED}") from exc


def _inside(folder: Path, path: str) -> PurePosixPath:
    found = PurePosixPath(path)
    if found.is_absolute() or ".." in found.parts:
        raise ModelError(f"{folder / 'modules.json'} names {path!r}, which is outside of the folder; {_PUBLISHED}")
    return found


def _choose_another() -> str:
    return "choose another model (KB_EMBEDDER), or export this one with its pooling inside, as sentence_embedding"
