"""A world in which truth can be computed: statements about lamps, judged by words and their opposites.

A chat model and an entailment model of it, so that every judge is asked the same.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from starlette.requests import Request
from starlette.responses import Response

from kb_pipeline_tests.app.model_servers import chunk, streamed
from kb_pipeline_tests.models.model_folders import write_json

WORDS = ("[UNK]", "[CLS]", "[SEP]", ".", "the", "lamp", "door", "is", "red", "green", "open", "shut", "old", "lamps")
OPPOSITES = {"red": "green", "green": "red", "open": "shut", "shut": "open"}
LABELS = {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"}
USAGE = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}

_USED = (
    "data: "
    + json.dumps(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": USAGE}
    )
    + "\n\n"
)
_STATEMENT = re.compile(r"^(\d+)\. \(passages ([\d, ]+)\) (.*)$", re.MULTILINE)
_PASSAGE = re.compile(r"^\[(\d+)\]\n<untrusted_passage>\n(.*?)\n</untrusted_passage>$", re.DOTALL | re.MULTILINE)

Change = Callable[[list[dict[str, Any]]], str]


def judgement(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What a good model says to a request of the judge."""
    said = body["messages"][-1]["content"]
    passages = {int(number): text for number, text in _PASSAGE.findall(said)}
    return [
        _judged(int(number), statement, {int(each): passages[int(each)] for each in numbers.split(", ")})
        for number, numbers, statement in _STATEMENT.findall(said.partition("Statements:\n")[2])
    ]


def _judged(number: int, statement: str, passages: dict[int, str]) -> dict[str, Any]:
    verdict: dict[str, Any] = {"statement": number, "passage": 0, "words": "", "verdict": "unsupported"}
    for passage, text in passages.items():
        missing = _words(statement) - _words(text)
        if not missing:
            return verdict | {"passage": passage, "words": text, "verdict": "supported"}
        if {OPPOSITES.get(word, "") for word in missing} & _words(text):
            verdict |= {"passage": passage, "words": text, "verdict": "contradicted"}
    return verdict


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def as_model(change: Change = lambda judged: json.dumps({"statements": judged})) -> Callable[..., Response]:
    """The model for an ``OwnModel``; ``change`` makes of its judgement what it says."""

    def answer(body: dict[str, Any], _: Request) -> Response:
        return streamed(chunk(change(judgement(body))), chunk(finish="stop"), _USED)

    return answer


def entailment_folder(folder: Path, labels: dict[int, str] | None = None) -> Path:
    """The entailment model. It compares which words the two texts have; its logits are those of ``LABELS``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "tokenizer.json", _tokenizer())
    write_json(folder / "config.json", {"id2label": labels or LABELS})
    _write_graph(folder / "model.onnx")
    return folder


def _write_graph(path: Path) -> None:
    size = len(WORDS)
    known = np.eye(size, dtype=np.float32)
    known[:4] = 0  # special tokens and full stops are no words
    opposite = np.zeros((size, size), np.float32)
    for word, other in OPPOSITES.items():
        opposite[WORDS.index(word), WORDS.index(other)] = 1
    constants = {
        "known": known,
        "opposite": opposite,
        "one": np.array(1, np.float32),
        "eight": np.array([[8, 8]], np.float32),
        "base": np.array([[-4, 4]], np.float32),
        "signs": np.array([[1, -1]], np.float32),
        "neutral": np.zeros((1, 1), np.float32),
        "axis1": np.array([1]),
        "axis2": np.array([2]),
    }
    nodes = [
        ("Gather", ["known", "input_ids"], "words", {}),
        ("Cast", ["token_type_ids"], "types", {"to": onnx.TensorProto.FLOAT}),
        ("Unsqueeze", ["types", "axis2"], "second", {}),
        ("Sub", ["one", "second"], "first", {}),
        ("Mul", ["words", "first"], "premise_words", {}),
        ("Mul", ["words", "second"], "hypothesis_words", {}),
        ("ReduceMax", ["premise_words", "axis1"], "premise", {"keepdims": 0}),
        ("ReduceMax", ["hypothesis_words", "axis1"], "hypothesis", {"keepdims": 0}),
        ("Sub", ["one", "premise"], "absent", {}),
        ("Mul", ["hypothesis", "absent"], "missing", {}),
        ("MatMul", ["premise", "opposite"], "denied", {}),
        ("Mul", ["missing", "denied"], "opposed", {}),
        ("ReduceSum", ["missing", "axis1"], "count", {"keepdims": 1}),
        ("ReduceSum", ["opposed", "axis1"], "against", {"keepdims": 1}),
        ("Concat", ["against", "count"], "counts", {"axis": 1}),
        ("Mul", ["counts", "eight"], "weighed", {}),
        ("Mul", ["weighed", "signs"], "signed", {}),
        ("Add", ["signed", "base"], "two", {}),
        ("Concat", ["two", "neutral"], "logits", {"axis": 1}),
    ]
    integers, floats = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, [output], **options) for kind, inputs, output, options in nodes],
        "lamps",
        [
            helper.make_tensor_value_info(name, integers, ["batch", "tokens"])
            for name in ("input_ids", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", floats, ["batch", len(LABELS)])],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def _tokenizer() -> dict[str, Any]:
    pieces = [("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("B", 1), ("[SEP]", 1)]
    pair = [{"Sequence" if len(name) == 1 else "SpecialToken": {"id": name, "type_id": kind}} for name, kind in pieces]
    specials = ("[CLS]", "[SEP]")
    return {
        "version": "1.0",
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": pair[:3],
            "pair": pair,
            "special_tokens": {each: {"id": each, "ids": [WORDS.index(each)], "tokens": [each]} for each in specials},
        },
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
    }
