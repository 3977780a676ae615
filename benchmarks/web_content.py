"""The main content of web pages: ours and other extractors by the scoring code of two public benchmarks, and their CPU.

    git clone https://github.com/Murrough-Foley/web-content-extraction-benchmark WCXB
    git clone https://github.com/scrapinghub/article-extraction-benchmark ARTICLES
    pip install trafilatura resiliparse
    python -m benchmarks.web_content --wcxb WCXB --split dev [--articles ARTICLES] [--every 1] [--only ours ...]

All extractors get the same bytes, one page after the other in this process; CPU is counted for extracting only. Ours is
the whole conversion to markdown, whose plain text is compared; pictures are taken out of the page before, because the
benchmarks have none, and the alternative text of a missing picture is no text of the page. The model was learned from
WCXB's development split (``web_content_training``): its test split, and the articles, tell how good it is on pages that
it never saw.
"""

import argparse
import gzip
import importlib.util
import json
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.measure import machine
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.steps.chunk.plain import plain_text
from kb_pipeline.steps.html import convert_html

Extract = Callable[[bytes], str]

_PICTURE = re.compile(rb"<img\b[^>]*>", re.I)
_NOTATION = re.compile(r"</?su[bp]>")


def main() -> None:
    """Extract, score, print and store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wcxb", type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--articles", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every so manieth page of WCXB")
    parser.add_argument("--only", nargs="*", default=list(EXTRACTORS), choices=EXTRACTORS)
    parser.add_argument("--out", type=Path, help="where the figures are stored, as JSON")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"machine": machine(), "results": {}}
    for name in arguments.only:
        extract = EXTRACTORS[name]()
        figures = {}
        if arguments.wcxb:
            figures[f"wcxb {arguments.split}"] = _wcxb(arguments.wcxb, arguments.split, arguments.every, extract)
        if arguments.articles:
            figures["articles"] = _articles(arguments.articles, extract)
        report["results"][name] = figures
        print(name, json.dumps(figures), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


def _ours() -> Extract:
    def extract(html: bytes) -> str:
        return plain_text(_NOTATION.sub("", convert_html("page", _PICTURE.sub(b" ", html), {}).markdown))

    return extract


def _trafilatura() -> Extract:
    """https://trafilatura.readthedocs.io, "With Python": its default, which compares several extractors."""
    from trafilatura import extract

    return lambda html: extract(html) or ""


def _resiliparse() -> Extract:
    """https://resiliparse.chatnoir.eu, "HTML2Text": its extraction of the main content."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html: str(extract_plain_text(html.decode("utf-8", "replace"), main_content=True, alt_texts=False))


EXTRACTORS: Mapping[str, Callable[[], Extract]] = {
    "ours": _ours,
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
}


class _Run:
    """What an extractor makes of pages, and the CPU that it needs; a page that it refuses is an empty one."""

    def __init__(self, extract: Extract, pages: Iterator[tuple[str, bytes]]) -> None:
        self.texts: dict[str, str] = {}
        self.errors = Counter[str]()
        self.seconds: list[float] = []
        for name, html in pages:
            begin = time.process_time()
            try:
                self.texts[name] = extract(html)
            except KnowledgeBaseError as exc:
                self.texts[name] = ""
                self.errors[type(exc).__name__] += 1
            self.seconds.append(time.process_time() - begin)

    def cost(self) -> dict[str, Any]:
        milliseconds = [1000 * each for each in self.seconds]
        return {
            "cpu_ms_mean": round(statistics.mean(milliseconds), 1),
            "cpu_ms_median": round(statistics.median(milliseconds), 1),
            "errors": dict(self.errors),
        }


def _wcxb(folder: Path, split: str, every: int, extract: Extract) -> dict[str, Any]:
    scoring = _module(folder / "evaluate.py")
    truth = {
        name: page for place, (name, page) in enumerate(scoring.load_ground_truth(split).items()) if not place % every
    }
    files = ((name, folder / split / "html" / f"{name}.html.gz") for name in truth)
    run = _Run(extract, ((name, gzip.decompress(file.read_bytes())) for name, file in files))
    scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    empty = 0
    for name, page in truth.items():
        score = scoring.word_f1(run.texts[name], page["main_content"])
        scores[page["page_type"]].append(score)
        scores["all"].append(score)
        empty += bool(page["main_content"].strip()) and not run.texts[name].strip()
    by_type = {
        kind: {
            "pages": len(of_kind),
            **{
                measure: round(statistics.mean(values), 3)
                for measure, values in zip(("p", "r", "f1"), zip(*of_kind, strict=True), strict=True)
            },
        }
        for kind, of_kind in sorted(scores.items())
    }
    return {"by_type": by_type, "falsely_empty": empty, **run.cost()}


def _articles(folder: Path, extract: Extract) -> dict[str, Any]:
    scoring = _module(folder / "evaluate.py")
    truth = json.loads((folder / "ground-truth.json").read_bytes())
    files = ((name, folder / "html" / f"{name}.html.gz") for name in truth)
    run = _Run(extract, ((name, gzip.decompress(file.read_bytes())) for name, file in files))
    found = {name: {"articleBody": text} for name, text in run.texts.items()}
    scores = scoring.evaluate(truth, found, n_bootstrap=2)
    return {**{measure: round(scores[measure], 3) for measure in ("f1", "precision", "recall")}, **run.cost()}


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scoring_{file.parent.name}", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
