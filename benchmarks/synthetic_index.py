"""Builds an index of any size in the real schema from the chunks of a real one: text, vectors and word vectors.

A synthetic chunk is the first half of one real chunk and the second half of another, so that no two are equal and word
frequencies match the real ones. It has as many passages as the first chunk; their vectors lie between those of the two
chunks, with noise. Not here: the queries (`queries.py`).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import numpy as np

from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.steps.late_interaction import EmbeddedPassage, packed_size

GROUPS = tuple(f"group-{number}" for number in range(20))
RESTRICTED = 0.2
"""Share of the articles that only one of the groups may see."""
_NOISE = 0.02
_COMMIT = 20_000


@dataclass(frozen=True)
class Material:
    """The real entries, in the order of their articles."""

    generation: Generation
    entries: list[IndexEntry]

    @property
    def chunks(self) -> list[Chunk]:
        return [entry.chunk for entry in self.entries]


def load_material(index: Path) -> Material:
    """Read the live generation of a LanceDB index, whose embedder must provide word vectors."""
    live = LanceDBCatalog(str(index)).live()
    if live is None or not live.generation.word_vectors:
        raise SystemExit(f"{index} holds no live generation with word vectors; run: kb ingest")
    opened = LanceDBCatalog(str(index)).open(live.generation)
    entries = opened.stored(opened.entries())
    return Material(live.generation, sorted(entries, key=lambda each: (each.chunk.article_id, each.chunk.chunk_index)))


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
    count = len(material.entries)
    for start in range(0, size, count):
        others = random.permutation(count)
        for place in range(min(count, size - start)):
            yield _between(material, place, int(others[place]), f"{seed}x{start // count}", random)


def _between(material: Material, first: int, second: int, copy: str, random: np.random.Generator) -> IndexEntry:
    chunk, other = material.entries[first].chunk, material.entries[second].chunk
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
    others = cycle(material.entries[second].passages)
    pairs = zip(material.entries[first].passages, others, strict=False)
    return IndexEntry(made, tuple(_passage_between(left, right, random) for left, right in pairs))


def _passage_between(left: EmbeddedPassage, right: EmbeddedPassage, random: np.random.Generator) -> EmbeddedPassage:
    vector = 0.7 * left.vector + 0.3 * right.vector + random.normal(0, _NOISE, left.vector.shape)
    size = packed_size(len(vector))
    half, other_half = len(left.words) // size // 2 * size, len(right.words) // size // 2 * size
    words = left.words[:half] + right.words[other_half:]
    return EmbeddedPassage((vector / np.linalg.norm(vector)).astype(np.float32), words)


def _half(text: str) -> str:
    return text[: text.find(" ", len(text) // 2)] if " " in text[len(text) // 2 :] else text


def hash_share(text: str) -> float:
    """A number from 0 to 1 that is the same for the same text in every process."""
    return int.from_bytes(text.encode()[-8:], "little") * 2654435761 % 2**32 / 2**32
