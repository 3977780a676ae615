"""Embedding models compared in one run: the cost per chunk, and the quality of retrieval.

    python -m benchmarks.embedders --home HOME --questions FILE [FILE ...] [--embedder NAME]... [--articles N]

All models embed the same chunks of an existing knowledge base: those of the articles that the questions are about, plus
random other articles up to ``--articles`` (0: all). Each model embeds them in its own processes, on all cores, into its
own index, which is searched as readers search it. NAME is a value of KB_EMBEDDER (``onnx//path/to/folder``,
``openai/MODEL``); the models that need no setup are always included.
Writes ``results/embedders.{json,md}``.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.embedding_model import MEASURES, argument_parser
from benchmarks.measure import machine, run

ALWAYS = ("hashing", "wordllama", "minilm")
COSTS = {
    "dimensions": "dimensions",
    "word_vectors": "words' vectors",
    "passages_per_s": "passages/s",
    "cpu_ms_a_passage": "CPU ms a passage",
    "bytes_a_chunk": "bytes a chunk",
    "peak_mb": "peak memory MB",
}


def main() -> None:
    """Compare the models and write the figures."""
    parser = argument_parser(__doc__)
    parser.add_argument("--embedder", action="append", default=[], help="one more; may be given several times")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "embedders.json")
    arguments = parser.parse_args()
    told = ["--home", str(arguments.home), "--articles", str(arguments.articles)]
    told += ["--questions", *map(str, arguments.questions)]
    results = {}
    for name in dict.fromkeys([*ALWAYS, *arguments.embedder]):
        command = [sys.executable, "-m", "benchmarks.embedding_model", *told, "--embedder", name]
        cost, output = run(command, {})
        if cost.exit_code:
            sys.exit(f"{name} could not be measured")
        figures = json.loads(output) | {"peak_mb": cost.peak_mb}
        results[_shown(name, figures)] = figures
        print(f"{name}: {figures['cpu_ms_a_passage']} CPU ms a passage, {cost.wall_s} s in all", flush=True)
        report = {"machine": machine(), "results": results}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
        arguments.out.with_suffix(".md").write_text("\n".join(_tables(report)) + "\n")


def _tables(report: Mapping[str, Any]) -> Iterator[str]:
    results, host = report["results"], report["machine"]
    first = next(iter(results.values()))
    yield f"{first['chunks']} chunks of {first['articles']} articles, {host['cpus']} cores ({host['processor']}),"
    yield f"onnxruntime {host['packages']['onnxruntime']}, LanceDB {host['packages']['lancedb']}."
    yield "Memory is that of the processes on all cores together; minilm's includes making its file once."
    yield from ("", f"| embedder | {' | '.join(COSTS.values())} | CPU ms a question |", "|---" * (len(COSTS) + 2) + "|")
    for name, figures in results.items():
        costs = " | ".join(_cell(figures[key]) for key in COSTS)
        yield f"| {name} | {costs} | {figures['found']['hybrid']['cpu_ms_a_question']} |"
    yield from ("", "Hybrid search, 95 % intervals in brackets:")
    for questions in first["found"]["hybrid"]["scores"]:
        yield from ("", f"| {questions} | {' | '.join(MEASURES)} |", "|---" * (len(MEASURES) + 1) + "|")
        yield _row("keyword search alone", first["found"]["keyword"]["scores"][questions])
        for name, figures in results.items():
            yield _row(name, figures["found"]["hybrid"]["scores"][questions])


def _row(name: str, scores: Mapping[str, Mapping[str, float]]) -> str:
    return f"| {name} | {' | '.join(_score(scores.get(measure)) for measure in MEASURES)} |"


def _cell(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _score(score: Mapping[str, float] | None) -> str:
    return f"{score['value']:.2f} [{score['low']:.2f}-{score['high']:.2f}]" if score else ""


def _shown(name: str, figures: Mapping[str, Any]) -> str:
    """The name for the report: a local folder is replaced by the model in it."""
    return f"onnx/{figures['model'].rpartition('-')[0]}" if name.startswith("onnx/") else name


if __name__ == "__main__":
    main()
