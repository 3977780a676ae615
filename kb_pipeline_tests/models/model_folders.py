"""Folders with embedding models, as sentence-transformers publishes them, of any shape."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from kb_pipeline.models.minilm import MiniLmEmbedder
from kb_pipeline.models.minilm_weights import read_tokenizer

WORDS = ("[UNK]", "[CLS]", "[SEP]", "ask", ":", "red", "green", "blue", "Red")
TABLE = np.array(
    [
        *([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0], [0, 0, 0, 1], [9, 9, 9, 9], [1, 1, 1, 1]),
        *([0, 2, 0, 0], [0, 0, 2, 0], [0, -2, 2, 0], [7, 0, 0, 0]),
    ],
    np.float32,
)
"""The vector of each of ``WORDS``; a tiny model's last layer is nothing else."""

TOKEN_INPUTS = ("input_ids", "attention_mask")


def tiny_folder(
    folder: Path,
    *,
    graph: str = "model.onnx",
    pooling: Mapping[str, Any] | None = None,
    modules: Sequence[Mapping[str, str]] = (),
    **configs: Mapping[str, Any],
) -> Path:
    """A model whose words have the vectors of ``TABLE``; ``configs``: content of further files, by stem."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(_TOKENIZER))
    write_graph(folder / graph)
    if pooling is not None:
        write_json(folder / "1_Pooling" / "config.json", pooling)
    if modules:
        write_json(folder / "modules.json", modules)
    for stem, config in configs.items():
        write_json(folder / f"{stem}.json", config)
    return folder


def write_graph(
    path: Path,
    *,
    inputs: Mapping[str, tuple[int, list[str | int]]] | None = None,
    outputs: Sequence[str] = ("last_hidden_state",),
    table: np.ndarray = TABLE,
    open_width: bool = False,
    external: bool = False,
) -> None:
    """A graph that looks up each token's vector; ``sentence_embedding`` is the sum of them.

    ``inputs``: by name their ONNX type and shape; ``open_width``: nothing says how many dimensions come out.
    """
    ends = inputs or dict.fromkeys(TOKEN_INPUTS, (onnx.TensorProto.INT64, ["batch", "tokens"]))
    layer = next((name for name in outputs if name != "sentence_embedding"), "layer")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["looked_up" if open_width else layer]),
        *([helper.make_node("Compress", ["looked_up", "chosen"], [layer], axis=2)] if open_width else []),
    ]
    if "sentence_embedding" in outputs:
        nodes.append(helper.make_node("ReduceSum", [layer, "axis"], ["sentence_embedding"], keepdims=0))
    shapes = {name: ["batch", *([] if name == "sentence_embedding" else ["tokens"])] for name in outputs}
    float32 = onnx.TensorProto.FLOAT
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in ends.items()],
            [
                helper.make_tensor_value_info(name, float32, [*shape, "hidden" if open_width else table.shape[1]])
                for name, shape in shapes.items()
            ],
            [
                numpy_helper.from_array(table, "table"),
                numpy_helper.from_array(np.array([1]), "axis"),
                numpy_helper.from_array(np.ones(table.shape[1], bool), "chosen"),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    place = f"{path.name}_data" if external else None
    onnx.save(model, path, save_as_external_data=external, location=place, size_threshold=0)


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def minilm_folder(folder: Path, models: Path) -> Path:
    """The default model as such a folder; ``models`` keeps its graph."""
    MiniLmEmbedder(models).prepare()
    (graph,) = models.glob("*.onnx")
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(graph, folder / "onnx" / "model.onnx")
    (folder / "tokenizer.json").write_bytes(read_tokenizer())
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MiniLmEmbedder.max_tokens})
    return folder


_TOKENIZER = {
    "version": "1.0",
    "added_tokens": [
        {
            "id": WORDS.index(token),
            "content": token,
            "special": True,
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
        }
        for token in ("[UNK]", "[CLS]", "[SEP]")
    ],
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            token: {"id": token, "ids": [WORDS.index(token)], "tokens": [token]} for token in ("[CLS]", "[SEP]")
        },
    },
    "model": {"type": "WordLevel", "vocab": {word: place for place, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
}
