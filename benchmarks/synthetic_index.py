"""Builds an index of any size in the real schema from the chunks of a real one: text, vectors and word vectors.

A synthetic chunk is the first half of one real chunk and the second half of another, so that no two are equal and word
frequencies match the real ones. Its vector lies between theirs, with noise. Not here: the queries (`queries.py`).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.database import Database
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.table import CHUNK_COLUMNS, VECTOR, WORDS, TableStore, to_chunk
from kb_pipeline.steps.late_interaction import packed_size

GROUPS = tuple(f"group-{number}" for number in range(20))
RESTRICTED = 0.2
"""Share of the articles that only one of the groups may see."""
_NOISE = 0.02
_COMMIT = 20_000


@dataclass(frozen=True)
class Material:
    """The real chunks, in the order of their articles, with their vectors."""

    generation: Generation
    chunks: list[Chunk]
    vectors: npt.NDArray[np.float32]
    words: list[bytes]


def load_material(index: Path) -> Material:
    """Read the live generation of a LanceDB index, whose embedder must provide word vectors."""
    live = LanceDBCatalog(str(index)).live()
    if live is None or not live.generation.word_vectors:
        raise SystemExit(f"{index} holds no live generation with word vectors; run: kb ingest")
    table = TableStore(Database(str(index)), live.generation).open()
    assert table is not None
    rows = table.search().select([*CHUNK_COLUMNS, VECTOR, WORDS]).to_list()
    rows.sort(key=lambda row: (row["article_id"], row["chunk_index"]))
    vectors = np.array([row[VECTOR] for row in rows], np.float32)
    return Material(live.generation, [to_chunk(row) for row in rows], vectors, [row[WORDS] for row in rows])


def build(material: Material, size: int, folder: Path) -> dict[str, float]:
    """Build a live, optimised index of ``size`` chunks in ``folder`` and return the cost."""
    catalog = LanceDBCatalog(str(folder))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    generation = material.generation.model_copy(update={"created_at": now})
    catalog.switch(generation, at=now)
    index = catalog.open(generation)
    wall, cpu = time.perf_counter(), time.process_time()
    publish(index, entries(material, size))
    published = time.perf_counter()
    index.optimise()
    return {
        "publish_s": round(published - wall, 1),
        "optimise_s": round(time.perf_counter() - published, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "mb": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6),
    }


def publish(index: LanceDBIndex, made: Iterator[IndexEntry]) -> None:
    """Publish the entries in commits of whole articles."""
    batch: dict[str, list[IndexEntry]] = {}
    count = 0
    for entry in made:
        if count >= _COMMIT and entry.chunk.article_id not in batch:
            index.publish(batch)
            batch, count = {}, 0
        batch.setdefault(entry.chunk.article_id, []).append(entry)
        count += 1
    index.publish(batch)


def entries(material: Material, size: int, *, seed: int = 0) -> Iterator[IndexEntry]:
    """Yield ``size`` synthetic entries, article by article; the same for the same arguments."""
    random = np.random.default_rng(seed)
    count = len(material.chunks)
    for start in range(0, size, count):
        others = random.permutation(count)
        for place in range(min(count, size - start)):
            yield _between(material, place, int(others[place]), f"{seed}x{start // count}", random)


def _between(material: Material, first: int, second: int, copy: str, random: np.random.Generator) -> IndexEntry:
    chunk, other = material.chunks[first], material.chunks[second]
    article_id = f"{chunk.article_id}-{copy}"
    hidden = hash_share(article_id)
    made = chunk.model_copy(
        update={
            "id": f"{chunk.id}-{copy}",
            "article_id": article_id,
            "content": f"{_half(chunk.content)}\n\n{other.content[len(_half(other.content)) :]}",
            "access_control_list": (GROUPS[int(hidden * 1e6) % len(GROUPS)],) if hidden < RESTRICTED else (),
        }
    )
    noise = random.normal(0, _NOISE, material.vectors.shape[1])
    vector = 0.7 * material.vectors[first] + 0.3 * material.vectors[second] + noise
    return IndexEntry(made, (vector / np.linalg.norm(vector)).astype(np.float32), _words(material, first, second))


def _half(text: str) -> str:
    return text[: text.find(" ", len(text) // 2)] if " " in text[len(text) // 2 :] else text


def _words(material: Material, first: int, second: int) -> bytes:
    size = packed_size(material.vectors.shape[1])
    left, right = material.words[first], material.words[second]
    return left[: len(left) // size // 2 * size] + right[len(right) // size // 2 * size :]


def hash_share(text: str) -> float:
    """A number from 0 to 1 that is the same for the same text in every process."""
    return int.from_bytes(text.encode()[-8:], "little") * 2654435761 % 2**32 / 2**32
