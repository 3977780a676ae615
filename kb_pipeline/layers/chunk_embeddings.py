"""chunk_embeddings: one unit vector for each chunk; an unchanged chunk keeps the one it has."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layout import Layout
from kb_pipeline.models.base import Vectors
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

    def exists(self, article_id: str) -> bool:
        return self.layout.embeddings(article_id).is_file()

    def make(self, article_id: str, inputs: Mapping[str, str], run: Run) -> Made:
        chunks = load_chunks(self.layout, article_id)
        embedded = [embedding_text(chunk) for chunk in chunks]
        hashes = [text_hash(self.backend(), text) for text in embedded]
        texts = dict(zip(hashes, embedded, strict=True))
        known = {key: vector for key, vector in self._known(article_id).items() if key in texts}
        missing = [key for key in texts if key not in known]
        known |= dict(zip(missing, self.workspace.embedder.embed([texts[key] for key in missing]), strict=True))
        self._write(article_id, [chunk.id for chunk in chunks], hashes, [known[key] for key in hashes])
        return Made(
            fingerprint(list(zip((chunk.id for chunk in chunks), hashes, strict=True))),
            {
                "vectors": len(chunks),
                "newly_embedded": len(missing),
                "kept": len(chunks) - len(missing),
                "dimensions": self.workspace.embedder.dimensions,
                "embedding_model": self.backend(),
            },
        )

    def _known(self, article_id: str) -> dict[str, Vectors]:
        if not self.exists(article_id):
            return {}
        try:
            return dict(load_vectors(self.layout, article_id).values())
        except DamagedLayerError:
            return {}  # it is being made again anyway

    def _write(self, article_id: str, ids: Sequence[str], hashes: Sequence[str], vectors: Sequence[Vectors]) -> None:
        flat = np.concatenate(vectors) if vectors else np.zeros(0, np.float32)
        width = self.workspace.embedder.dimensions
        table = pa.table(
            {
                "chunk_id": pa.array(ids, pa.string()),
                "text_hash": pa.array(hashes, pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), width),
            }
        )
        sink = pa.BufferOutputStream()
        # vectors are noise to a compressor, and the files are small
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
        write_bytes(self.layout.embeddings(article_id), sink.getvalue().to_pybytes())


def text_hash(model_id: str, text: str) -> str:
    """What a vector belongs to: the text that was embedded, and the model that did it."""
    return fingerprint(model_id, text)


def load_vectors(layout: Layout, article_id: str) -> dict[str, tuple[str, Vectors]]:
    """By chunk id the text hash and the vector, as :class:`ChunkEmbeddingsLayer` wrote them.

    Raises:
        DamagedLayerError: the file is not what was written.
    """
    path = layout.embeddings(article_id)
    try:
        table = pq.read_table(pa.BufferReader(read_bytes(path)))
        ids, hashes, column = (table[name].combine_chunks() for name in ("chunk_id", "text_hash", "vector"))
    except (pa.ArrowInvalid, KeyError) as exc:
        raise DamagedLayerError(ChunkEmbeddingsLayer.name, path) from exc
    vectors = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return dict(zip(ids.to_pylist(), zip(hashes.to_pylist(), vectors, strict=True), strict=True))
