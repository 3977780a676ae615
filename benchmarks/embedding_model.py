"""Measures one embedding model; `benchmarks.embedders` starts it for each model.

Prints JSON: the model, its cost per chunk, and the quality of retrieval.
"""

import argparse
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kb_pipeline.evaluation.asking import outcome_of, wordings
from kb_pipeline.evaluation.measures import scores_of, with_values
from kb_pipeline.evaluation.questions import QuestionSet, read_questions
from kb_pipeline.evaluation.records import Scores
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Reader, Workspace, open_workspace
from kb_pipeline.models.base import Embedder
from kb_pipeline.records import Chunk, SearchMode
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.settings import load_settings
from kb_pipeline.steps.late_interaction import EmbeddedPassage
from kb_pipeline.store.state import known_articles, load_state

MEASURES = ("article@1", "article@5", "MRR@10", "span@5", "AUC")
TEXTS_A_TASK = 64
_APART = {"staging": "/nowhere", "serving": None, "index_uri": None}
"""Of other settings of this shell, nothing is to be used."""


def main() -> None:
    """Measure the model that the command line names."""
    parser = argument_parser(__doc__)
    parser.add_argument("--embedder", required=True, help="as KB_EMBEDDER")
    arguments = parser.parse_args()
    sets = [read_questions(path) for path in arguments.questions]
    chunks = _chunks(arguments.home, sets, arguments.articles)
    with tempfile.TemporaryDirectory(prefix="kb-embedders-") as home:
        workspace = open_workspace(load_settings(home=home, embedder=arguments.embedder, index="lancedb", **_APART))
        workspace.embedder.prepare()
        texts = [workspace.embedder.passages_of(chunk) for chunk in chunks]
        passages, cost = _embedded(workspace.embedder, list(chain.from_iterable(texts)))
        reader = _published(workspace, chunks, texts, passages)
        found = {mode: _found(reader, sets, mode) for mode in ("hybrid", "keyword")}
    stored = sum(passage.vector.nbytes + len(passage.words) for passage in passages)
    told = {
        "model": workspace.embedder.model_id,
        "dimensions": workspace.embedder.dimensions,
        "word_vectors": workspace.embedder.word_vectors,
        "articles": len({chunk.article_id for chunk in chunks}),
        "chunks": len(chunks),
        "bytes_a_chunk": round(stored / len(chunks)),
    }
    print(json.dumps(told | cost | {"found": found}))


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that both commands share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="home folder of the knowledge base")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="question sets, *.jsonl")
    parser.add_argument("--articles", type=int, default=300, help="size of the sample; 0: all")
    return parser


def _chunks(home: Path, sets: Sequence[QuestionSet], articles: int) -> list[Chunk]:
    """The chunks of the expected articles, plus random others up to a number of articles."""
    layout = open_workspace(load_settings(home=str(home), **_APART)).layout
    known = sorted(known_articles(layout))
    wanted = {name for each in sets for question in each.questions for name in question.right_articles}
    others = [name for name in known if name not in wanted]
    random.Random(0).shuffle(others)
    chosen = [*(name for name in known if name in wanted), *others][: articles or None]
    states = (load_state(layout, name) for name in sorted(chosen))
    return [chunk for state in states for chunk in load_chunks(layout, state.article_id, state.version)]


def _embedded(embedder: Embedder, texts: list[str]) -> tuple[list[EmbeddedPassage], dict[str, float]]:
    """The embedded passages and their cost on all cores, without loading the models."""
    cores = len(os.sched_getaffinity(0))
    tasks = [texts[start : start + TEXTS_A_TASK] for start in range(0, len(texts), TEXTS_A_TASK)]
    with ProcessPoolExecutor(cores, get_context("spawn"), _load, (embedder,)) as pool:
        list(pool.map(_warm, range(cores * 4)))
        started = time.perf_counter()
        results = list(pool.map(_embed, tasks))
        seconds = time.perf_counter() - started
    cpu = sum(used for _, used in results)
    passages = list(chain.from_iterable(passages for passages, _ in results))
    rates = {"passages_per_s": round(len(texts) / seconds, 1), "cpu_ms_a_passage": round(1000 * cpu / len(texts), 2)}
    return passages, rates


_loaded: list[Embedder] = []


def _load(embedder: Embedder) -> None:
    embedder.embed_passages(["warm"])
    _loaded.append(embedder)


def _warm(_number: int) -> None:
    time.sleep(0.05)  # long enough that every process takes one


def _embed(texts: list[str]) -> tuple[list[EmbeddedPassage], float]:
    before = _cpu()
    return _loaded[0].embed_passages(texts), _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _published(
    workspace: Workspace, chunks: Sequence[Chunk], texts: Sequence[list[str]], passages: Sequence[EmbeddedPassage]
) -> Reader:
    """Publish the chunks; ``texts`` are those of each chunk's passages, which follow one another in ``passages``."""
    entries: dict[str, list[IndexEntry]] = {}
    rest = iter(passages)
    for chunk, of_chunk in zip(chunks, texts, strict=True):
        entries.setdefault(chunk.article_id, []).append(IndexEntry(chunk, tuple(islice(rest, len(of_chunk)))))
    workspace.index.publish(entries)
    workspace.index.optimise()
    workspace.catalog.switch(workspace.generation, at=workspace.generation.created_at)
    return workspace.reader()


def _found(reader: Reader, sets: Sequence[QuestionSet], mode: SearchMode) -> dict[str, Any]:
    """Scores by question set, as worded and paraphrased, and the CPU time of a question."""
    before = _cpu()
    outcomes = with_values([outcome_of(each, reader.search(each.text, mode=mode)) for each in wordings(sets)])
    used = 1000 * (_cpu() - before) / len(outcomes)
    scores = {each.name: scores_of([one for one in outcomes if one.question_set == each.name]) for each in sets}
    return {"cpu_ms_a_question": round(used, 1), "scores": dict(_figures(scores))}


def _figures(by_set: dict[str, Scores]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, scores in by_set.items():
        for group, title in (("all", name), ("paraphrase", f"{name}, in other words")):
            found = {measure: scores[measure][group] for measure in MEASURES if group in scores.get(measure, {})}
            yield title, {measure: score.model_dump() for measure, score in found.items()}


if __name__ == "__main__":
    main()
