"""chunk_embeddings: for each chunk one unit vector, and the packed ones of its words if the model tells them.

An unchanged chunk keeps what it has.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layers.versions import made_versions
from kb_pipeline.layout import Layout
from kb_pipeline.metering import timed_use
from kb_pipeline.models.base import EmbeddedPassage, Embedder, Vectors
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.checks import check_vectors
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline.storage import read_bytes, write_bytes

_PACKING_KEY = b"kb_packing"
"""In the file's schema: how the vectors of words are packed."""


class ChunkEmbeddingsLayer(Layer):
    """Vectors as Parquet: ``chunk_id``, ``text_hash`` (of what was embedded, with which model), ``vector``, ``words``.

    ``words`` is there if the model tells the vectors of words.
    """

    name: ClassVar[str] = "chunk_embeddings"
    upstream: ClassVar[tuple[str, ...]] = ("chunks",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "A vector for each chunk; chunks whose text is unchanged keep theirs."

    def backend(self) -> str:
        packing = _packing(self.workspace.embedder)
        return f"{self._model_id}/words-{packing}" if packing else self._model_id

    def pool(self) -> str:
        return self.workspace.embedder.pool

    def exists(self, state: ArticleState) -> bool:
        return self._path(state).is_file()

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        chunks = load_chunks(self.layout, state.article_id, state.version)
        embedded = [embedding_text(chunk) for chunk in chunks]
        hashes = [text_hash(self._model_id, text) for text in embedded]
        texts = dict(zip(hashes, embedded, strict=True))
        known = self._known(state, texts.keys())
        missing = [key for key in texts if key not in known]
        known |= self._embed(missing, texts)
        ids, passages = [chunk.id for chunk in chunks], [known[key] for key in hashes]
        vectors = self._stack(passages)
        self._write(state, ids, hashes, vectors, [passage.words for passage in passages])
        packing = _packing(self.workspace.embedder)
        return Made(
            fingerprint(list(zip(ids, hashes, strict=True)), *([packing] if packing else [])),
            {
                "vectors": len(chunks),
                "newly_embedded": len(missing),
                "kept": len(chunks) - len(missing),
                "dimensions": self.workspace.embedder.dimensions,
                "embedding_model": self._model_id,
                **({"bytes_of_word_vectors": sum(len(passage.words) for passage in passages)} if packing else {}),
            },
            check_vectors(vectors, len(chunks), self.workspace.embedder.dimensions),
        )

    @property
    def _model_id(self) -> str:
        return self.workspace.embedder.model_id

    def _path(self, state: ArticleState) -> UPath:
        return self.layout.vectors(state.article_id, state.version, self._model_id)

    def _embed(self, keys: Sequence[str], texts: Mapping[str, str]) -> dict[str, EmbeddedPassage]:
        if not keys:
            return {}
        with timed_use(self._model_id, calls=len(keys)):
            passages = self.workspace.embedder.embed_passages([texts[key] for key in keys])
        return dict(zip(keys, passages, strict=True))

    def _known(self, state: ArticleState, keys: Collection[str]) -> dict[str, EmbeddedPassage]:
        """What this version, or else another one of the article, has of the same text."""
        known: dict[str, EmbeddedPassage] = {}
        others = made_versions(self.layout, state.article_id) - {state.version}
        for version in (state.version, *sorted(others)):
            if len(known) == len(keys):
                break
            found = self._kept(state.article_id, version)
            known |= {key: passage for key, passage in found.items() if key in keys}
        return known

    def _kept(self, article_id: str, version: str) -> dict[str, EmbeddedPassage]:
        try:
            return kept_passages(self.layout, article_id, version, self.workspace.embedder)
        except DamagedLayerError:
            return {}  # then they are made again

    def _stack(self, passages: Sequence[EmbeddedPassage]) -> Vectors:
        width = self.workspace.embedder.dimensions
        return np.stack([passage.vector for passage in passages]) if passages else np.zeros((0, width), np.float32)

    def _write(
        self, state: ArticleState, ids: Sequence[str], hashes: Sequence[str], vectors: Vectors, words: Sequence[bytes]
    ) -> None:
        columns = {
            "chunk_id": pa.array(ids, pa.string()),
            "text_hash": pa.array(hashes, pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), vectors.shape[1]),
        }
        if packing := _packing(self.workspace.embedder):
            columns["words"] = pa.array(words, pa.binary())
        table = pa.table(columns, metadata={_PACKING_KEY: packing.encode()} if packing else None)
        sink = pa.BufferOutputStream()
        # vectors are noise to a compressor, and the files are small
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
        write_bytes(self._path(state), sink.getvalue().to_pybytes())


class StoredVector(NamedTuple):
    """A chunk's vector, the hash of the text it belongs to, and its packed words; none from a model without them."""

    text_hash: str
    vector: Vectors
    words: bytes = b""


def text_hash(model_id: str, text: str) -> str:
    """What a vector belongs to: the text that was embedded, and the model that did it."""
    return fingerprint(model_id, text)


def load_vectors(layout: Layout, article_id: str, version: str, model_id: str) -> dict[str, StoredVector]:
    """What is stored of each chunk, by its id, as :class:`ChunkEmbeddingsLayer` wrote it.

    Raises:
        DamagedLayerError: the file is not what was written.
    """
    return _stored(layout.vectors(article_id, version, model_id))[1]


def kept_passages(layout: Layout, article_id: str, version: str, embedder: Embedder) -> dict[str, EmbeddedPassage]:
    """What a version has of texts, by their hash, and the embedder need not embed again.

    Nothing if there is none, or without the vectors of words that the embedder tells.

    Raises:
        DamagedLayerError: the file is not what was written.
    """
    path = layout.vectors(article_id, version, embedder.model_id)
    if not path.is_file():
        return {}
    packing, stored = _stored(path)
    if _packing(embedder) not in ("", packing):
        return {}
    return {each.text_hash: EmbeddedPassage(each.vector, each.words) for each in stored.values()}


def _packing(embedder: Embedder) -> str:
    return PACKING if embedder.word_vectors else ""


def _stored(path: UPath) -> tuple[str, dict[str, StoredVector]]:
    """How the words are packed, "" without them, and what is stored, by chunk."""
    try:
        table = pq.ParquetFile(pa.BufferReader(read_bytes(path))).read()  # read_table would import pandas
        ids, hashes, column = (table[name].combine_chunks() for name in ("chunk_id", "text_hash", "vector"))
        packing = (table.schema.metadata or {}).get(_PACKING_KEY, b"").decode()
        words = table["words"].to_pylist() if packing else [b""] * len(ids)
    except (pa.ArrowInvalid, KeyError) as exc:
        raise DamagedLayerError(ChunkEmbeddingsLayer.name, path) from exc
    vectors = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    rows = map(StoredVector, hashes.to_pylist(), vectors, words)
    return packing, dict(zip(ids.to_pylist(), rows, strict=True))
