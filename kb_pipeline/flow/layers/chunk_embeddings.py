"""chunk_embeddings: a unit vector for each passage of a chunk, and packed vectors of its words if the model has them.

A passage whose text is unchanged keeps its vectors, whichever version of the article they were made for, or preview.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run
from kb_pipeline.flow.layers.chunks import ChunksLayer, load_chunks
from kb_pipeline.flow.serving_versions import made_versions
from kb_pipeline.limited import doing, progressed
from kb_pipeline.models.base import Embedder, Vectors
from kb_pipeline.records import Chunk, Report
from kb_pipeline.services.usage import timed_use
from kb_pipeline.steps.checks import vectors_are_usable
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.late_interaction import PACKING, EmbeddedPassage
from kb_pipeline.store.files import copy_file, is_file_of, names_in, read_bytes, remove_file, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState

_PACKING_KEY, _CHECKSUM_KEY = b"kb_packing", b"kb_checksum"
"""Metadata of the Parquet schema: how word vectors are packed, and a hash of all values.

The hash is needed because newer versions reuse the vectors of a version whose file hash is in no state any more.
"""


_KEPT_TOGETHER = 500
"""Passages that are embedded before they are written, so that work on a long document is not lost."""


class ChunkEmbeddingsLayer(Layer):
    """Vectors as Parquet, a row for each passage, in the order of the chunks.

    Columns: ``chunk_id``; ``chunk_hash`` (of the model and the chunk's whole text); ``text_hash`` (of the model and the
    passage's text); ``vector``; ``words`` if the model returns vectors of words.
    """

    name: ClassVar[str] = "chunk_embeddings"
    upstream: ClassVar[tuple[str, ...]] = ("chunks",)
    version: ClassVar[str] = "1"
    description: ClassVar[str] = (
        "A vector for each chunk, or several for a long one. What did not change keeps its vector at no cost."
    )

    def backend(self) -> str:
        packing = _packing(self.workspace.embedder)
        return f"{self._model_id}/words-{packing}" if packing else self._model_id

    def pool(self) -> str:
        return self.workspace.embedder.pool

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        path = self._path(state)
        return {path.name: path}

    def report(self, state: ArticleState) -> Report:
        _, chunks = _read_vectors(self._path(state))
        return self._report([passage for chunk in chunks.values() for passage in chunk.passages], 0)

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        embedder = self.workspace.embedder
        chunks = load_chunks(self.layout, state.article_id, state.version, state.layers.get(ChunksLayer.name))
        texts = [(chunk, text) for chunk in chunks for text in embedder.passages_of(chunk)]
        hashes = [text_hash(self._model_id, text) for _, text in texts]
        text_by_hash = {key: text for key, (_, text) in zip(hashes, texts, strict=True)}
        embedded = self._reusable(state, text_by_hash.keys())
        missing = {key: text for key, text in text_by_hash.items() if key not in embedded}
        chunk_by_row = [chunk for chunk, _ in texts]
        keys = list(missing)
        path = self._path(state)
        for start in range(0, len(keys), _KEPT_TOGETHER):
            doing(f"embedding passages {start + 1:,} to {min(start + _KEPT_TOGETHER, len(keys)):,} of {len(keys):,}")
            some = keys[start : start + _KEPT_TOGETHER]
            with timed_use(self._model_id, calls=len(some)):
                embedded |= zip(some, embedder.embed_passages([missing[key] for key in some]), strict=True)
            if start + _KEPT_TOGETHER < len(keys):  # a run that is killed now goes on from here
                write_bytes(path, self._parquet(chunk_by_row, hashes, embedded)[0])
                progressed()
        data, vectors = self._parquet(chunk_by_row, hashes, embedded)
        write_bytes(path, data)
        self._take_over_previewed(state, embedded.keys())
        return LayerOutput(
            _output_hash(
                [(chunk.id, key) for chunk, key in zip(chunk_by_row, hashes, strict=True)], _packing(embedder)
            ),
            self._report([embedded[key] for key in hashes], len(missing)),
            (vectors_are_usable(vectors, len(texts), embedder.dimensions),),
            {path.name: sha256(data)},
        )

    def _report(self, passages: Sequence[EmbeddedPassage], new: int) -> Report:
        word_bytes = sum(len(passage.words) for passage in passages)
        return {
            "vectors": len(passages),
            "newly_embedded": new,
            "kept": len(passages) - new,
            "dimensions": self.workspace.embedder.dimensions,
            "embedding_model": self._model_id,
            **({"bytes_of_word_vectors": word_bytes} if _packing(self.workspace.embedder) else {}),
        }

    @property
    def _model_id(self) -> str:
        return self.workspace.embedder.model_id

    def _path(self, state: ArticleState) -> UPath:
        return self.layout.vectors(state.article_id, state.version, self._model_id)

    def _reusable(self, state: ArticleState, hashes: Collection[str]) -> dict[str, EmbeddedPassage]:
        """The texts that are embedded already, in this version of the article or another, by their hash."""
        passages: dict[str, EmbeddedPassage] = {}
        is_damaged = self._is_published_damaged(state)
        others = made_versions(self.layout, state.article_id) - {state.version}
        for version in (state.version, *sorted(others)):
            if len(passages) == len(hashes):
                break
            try:
                kept = kept_passages(self.layout, state.article_id, version, self.workspace.embedder)
            except DamagedLayerError:
                is_damaged = True
                continue
            passages |= {key: passage for key, passage in kept.items() if key in hashes}
        if len(passages) < len(hashes):
            previewed = previewed_passages(self.layout, state.article_id, self.workspace.embedder)
            passages |= {key: passage for key, passage in previewed.items() if key in hashes}
        missing = [key for key in hashes if key not in passages]
        if is_damaged and missing:  # the index still holds the vectors that were paid for
            passages |= self._indexed(state.article_id, missing)
        return passages

    def _take_over_previewed(self, state: ArticleState, embedded: Collection[str]) -> None:
        """Remove the files of previews whose vectors are all in this version now."""
        for path in _previewed_files(self.layout, state.article_id, self._model_id):
            try:
                _, chunks = _read_vectors(path)
            except DamagedLayerError:
                remove_file(path)
                continue
            if all(key in embedded for chunk in chunks.values() for key in chunk.text_hashes):
                remove_file(path)

    def _is_published_damaged(self, state: ArticleState) -> bool:
        """Whether the vectors of the published version, which is never pruned, are gone or not as they were made."""
        published = state.layers.get("search_index")
        if published is None or not state.published_version:
            return False
        path = self.layout.vectors(state.article_id, state.published_version, self._model_id)
        return not is_file_of(path, published.files.get(path.name))

    def _indexed(self, article_id: str, hashes: Collection[str]) -> dict[str, EmbeddedPassage]:
        """The texts that the index holds vectors of."""
        if _packing(self.workspace.embedder) != self.workspace.generation.word_vectors:
            return {}  # the index does not keep the vectors of words
        try:
            entries = self.workspace.index.stored([article_id])
        except KnowledgeBaseError:
            return {}  # the index is damaged as well, or out of reach
        passages: dict[str, EmbeddedPassage] = {}
        for entry in entries:
            texts = self.workspace.embedder.passages_of(entry.chunk)
            if len(texts) == len(entry.passages):
                passages |= zip((text_hash(self._model_id, text) for text in texts), entry.passages, strict=True)
        return {key: passages[key] for key in hashes if key in passages}

    def _parquet(
        self, chunks: Sequence[Chunk], hashes: Sequence[str], embedded: Mapping[str, EmbeddedPassage]
    ) -> tuple[bytes, Vectors]:
        """The file and the vectors in it: of the chunks whose passages are all embedded; each passage has a hash."""
        unfinished = {chunk.id for chunk, key in zip(chunks, hashes, strict=True) if key not in embedded}
        rows = [
            (chunk, key, embedded[key]) for chunk, key in zip(chunks, hashes, strict=True) if chunk.id not in unfinished
        ]
        empty = np.zeros((0, self.workspace.embedder.dimensions), np.float32)
        vectors = np.stack([passage.vector for _, _, passage in rows]) if rows else empty
        columns = {
            "chunk_id": pa.array([chunk.id for chunk, _, _ in rows], pa.string()),
            "chunk_hash": pa.array([chunk_text_hash(self._model_id, chunk) for chunk, _, _ in rows], pa.string()),
            "text_hash": pa.array([key for _, key, _ in rows], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), vectors.shape[1]),
        }
        if packing := _packing(self.workspace.embedder):
            columns["words"] = pa.array([passage.words for _, _, passage in rows], pa.binary())
        table = pa.table(columns)
        metadata = {_CHECKSUM_KEY: _checksum(table, packing).encode()}
        table = table.replace_schema_metadata(metadata | ({_PACKING_KEY: packing.encode()} if packing else {}))
        sink = pa.BufferOutputStream()
        # vectors do not compress, and the files are small
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
        return bytes(sink.getvalue().to_pybytes()), vectors


class EmbeddedChunk(NamedTuple):
    """The passages of a chunk, the hash of each one's text, and the hash of the chunk's whole text."""

    chunk_hash: str
    text_hashes: tuple[str, ...]
    passages: tuple[EmbeddedPassage, ...]


def text_hash(model_id: str, text: str) -> str:
    """The key of a vector: a hash of the embedded text and the model."""
    return fingerprint(model_id, text)


def chunk_text_hash(model_id: str, chunk: Chunk) -> str:
    """A hash of all that is embedded of a chunk, and the model."""
    return text_hash(model_id, embedding_text(chunk))


def load_vectors(layout: Layout, article_id: str, version: str, model_id: str) -> dict[str, EmbeddedChunk]:
    """The embedded chunks of a version by chunk id, as :class:`ChunkEmbeddingsLayer` wrote them.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    return _read_vectors(layout.vectors(article_id, version, model_id))[1]


def kept_passages(layout: Layout, article_id: str, version: str, embedder: Embedder) -> dict[str, EmbeddedPassage]:
    """The texts of a version that need not be embedded again, by their hash.

    Empty if the version has no vectors by this model, or lacks the vectors of words that the model returns.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    chunks = kept_chunks(layout, article_id, version, embedder)
    return {key: passage for chunk in chunks for key, passage in zip(chunk.text_hashes, chunk.passages, strict=True)}


def kept_chunks(layout: Layout, article_id: str, version: str, embedder: Embedder) -> list[EmbeddedChunk]:
    """The embedded chunks of a version, under the conditions of :func:`kept_passages`.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    path = layout.vectors(article_id, version, embedder.model_id)
    if not path.is_file():
        return []
    packing, chunks = _read_vectors(path)
    return list(chunks.values()) if _packing(embedder) in ("", packing) else []


def previewed_passages(layout: Layout, article_id: str, embedder: Embedder) -> dict[str, EmbeddedPassage]:
    """The texts that were embedded for previews of the article, by their hash; a damaged file counts as none."""
    passages: dict[str, EmbeddedPassage] = {}
    for path in _previewed_files(layout, article_id, embedder.model_id):
        with suppress(DamagedLayerError):
            packing, chunks = _read_vectors(path)
            if _packing(embedder) in ("", packing):
                for chunk in chunks.values():
                    passages |= zip(chunk.text_hashes, chunk.passages, strict=True)
    return passages


def keep_previewed(layout: Layout, article_id: str, vectors: UPath) -> None:
    """Keep the vectors that a preview made, which may have been paid for, until a run takes them over."""
    copy_file(vectors, layout.previewed(article_id) / f"{vectors.stem}-{sha256(read_bytes(vectors))[:12]}.parquet")


def _previewed_files(layout: Layout, article_id: str, model_id: str) -> list[UPath]:
    folder, begins = layout.previewed(article_id), layout.vectors(article_id, "0" * 16, model_id).stem
    return [folder / name for name in sorted(names_in(folder)) if name.startswith(f"{begins}-")]


def _output_hash(texts: Sequence[tuple[str, str]], packing: str) -> str:
    """Hash of the chunk ids, each with the hash of an embedded text, in order."""
    return fingerprint([list(pair) for pair in texts], *([packing] if packing else []))


def _checksum(table: pa.Table, packing: str) -> str:
    hashed = hashlib.sha256(packing.encode())
    for name in table.column_names:
        column = table[name].combine_chunks()
        if name == "vector":
            hashed.update(column.flatten().to_numpy().tobytes())
            continue
        for value in column.cast(pa.binary()).to_pylist():
            hashed.update(len(value).to_bytes(8, "big") + value)
    return hashed.hexdigest()


def _packing(embedder: Embedder) -> str:
    return PACKING if embedder.word_vectors else ""


def _read_vectors(path: UPath) -> tuple[str, dict[str, EmbeddedChunk]]:
    """How the vectors of words are packed ("" if there are none), and the embedded chunks by chunk id."""
    data = read_bytes(path)
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read()  # read_table would import pandas
        names = ("chunk_id", "chunk_hash", "text_hash", "vector")
        ids, chunk_hashes, hashes, column = (table[name].combine_chunks() for name in names)
        packing = (table.schema.metadata or {}).get(_PACKING_KEY, b"").decode()
        words = table["words"].to_pylist() if packing else [b""] * len(ids)
        vectors = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
        if (table.schema.metadata or {}).get(_CHECKSUM_KEY) != _checksum(table, packing).encode():
            raise ValueError("its checksum does not match")
    except (pa.ArrowException, KeyError, ValueError, TypeError, AttributeError, OSError) as exc:
        raise DamagedLayerError(ChunkEmbeddingsLayer.name, path) from exc
    passages = map(EmbeddedPassage, vectors, words)
    rows = zip(ids.to_pylist(), chunk_hashes.to_pylist(), hashes.to_pylist(), passages, strict=True)
    chunks: dict[str, EmbeddedChunk] = {}
    for chunk_id, of_chunk in groupby(rows, key=itemgetter(0)):
        _, chunk_hash, text_hashes, embedded = zip(*of_chunk, strict=True)
        chunks[chunk_id] = EmbeddedChunk(chunk_hash[0], text_hashes, embedded)
    return packing, chunks
