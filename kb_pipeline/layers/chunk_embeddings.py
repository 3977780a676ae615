"""chunk_embeddings: one unit vector for each chunk; an unchanged chunk keeps the one it has."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layers.versions import made_versions
from kb_pipeline.layout import Layout
from kb_pipeline.metering import timed_use
from kb_pipeline.models.base import Vectors
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.checks import check_vectors
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.storage import read_bytes, write_bytes


class ChunkEmbeddingsLayer(Layer):
    """Vectors as Parquet: ``chunk_id``, ``text_hash`` (of what was embedded, with which model), ``vector``."""

    name: ClassVar[str] = "chunk_embeddings"
    upstream: ClassVar[tuple[str, ...]] = ("chunks",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "A vector for each chunk; chunks whose text is unchanged keep theirs."

    def backend(self) -> str:
        return self.workspace.embedder.model_id

    def pool(self) -> str:
        return self.workspace.embedder.pool

    def exists(self, state: ArticleState) -> bool:
        return self.layout.vectors(state.article_id, state.version, self.backend()).is_file()

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        chunks = load_chunks(self.layout, state.article_id, state.version)
        embedded = [embedding_text(chunk) for chunk in chunks]
        hashes = [text_hash(self.backend(), text) for text in embedded]
        texts = dict(zip(hashes, embedded, strict=True))
        known = self._known(state, texts.keys())
        missing = [key for key in texts if key not in known]
        known |= self._embed(missing, texts)
        vectors = self._stack([known[key] for key in hashes])
        self._write(state, [chunk.id for chunk in chunks], hashes, vectors)
        return Made(
            fingerprint(list(zip((chunk.id for chunk in chunks), hashes, strict=True))),
            {
                "vectors": len(chunks),
                "newly_embedded": len(missing),
                "kept": len(chunks) - len(missing),
                "dimensions": self.workspace.embedder.dimensions,
                "embedding_model": self.backend(),
            },
            check_vectors(vectors, len(chunks), self.workspace.embedder.dimensions),
        )

    def _embed(self, keys: Sequence[str], texts: Mapping[str, str]) -> dict[str, Vectors]:
        if not keys:
            return {}
        with timed_use(self.backend(), calls=len(keys)):
            vectors = self.workspace.embedder.embed([texts[key] for key in keys])
        return dict(zip(keys, vectors, strict=True))

    def _known(self, state: ArticleState, keys: Collection[str]) -> dict[str, Vectors]:
        """Vectors that this version, or else another one of the article, has of the same text."""
        known: dict[str, Vectors] = {}
        others = made_versions(self.layout, state.article_id) - {state.version}
        for version in (state.version, *sorted(others)):
            if len(known) == len(keys):
                break
            found = self._vectors_of(state.article_id, version)
            known |= {key: vector for key, vector in found.items() if key in keys}
        return known

    def _vectors_of(self, article_id: str, version: str) -> dict[str, Vectors]:
        if not self.layout.vectors(article_id, version, self.backend()).is_file():
            return {}
        try:
            return dict(load_vectors(self.layout, article_id, version, self.backend()).values())
        except DamagedLayerError:
            return {}  # then they are made again

    def _stack(self, vectors: Sequence[Vectors]) -> Vectors:
        width = self.workspace.embedder.dimensions
        return np.stack(vectors) if vectors else np.zeros((0, width), np.float32)

    def _write(self, state: ArticleState, ids: Sequence[str], hashes: Sequence[str], vectors: Vectors) -> None:
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), vectors.shape[1])
        table = pa.table(
            {"chunk_id": pa.array(ids, pa.string()), "text_hash": pa.array(hashes, pa.string()), "vector": column}
        )
        sink = pa.BufferOutputStream()
        # vectors are noise to a compressor, and the files are small
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
        path = self.layout.vectors(state.article_id, state.version, self.backend())
        write_bytes(path, sink.getvalue().to_pybytes())


def text_hash(model_id: str, text: str) -> str:
    """What a vector belongs to: the text that was embedded, and the model that did it."""
    return fingerprint(model_id, text)


def load_vectors(layout: Layout, article_id: str, version: str, model_id: str) -> dict[str, tuple[str, Vectors]]:
    """By chunk id the text hash and the vector, as :class:`ChunkEmbeddingsLayer` wrote them.

    Raises:
        DamagedLayerError: the file is not what was written.
    """
    path = layout.vectors(article_id, version, model_id)
    try:
        table = pq.read_table(pa.BufferReader(read_bytes(path)))
        ids, hashes, column = (table[name].combine_chunks() for name in ("chunk_id", "text_hash", "vector"))
    except (pa.ArrowInvalid, KeyError) as exc:
        raise DamagedLayerError(ChunkEmbeddingsLayer.name, path) from exc
    vectors = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return dict(zip(ids.to_pylist(), zip(hashes.to_pylist(), vectors, strict=True), strict=True))
