"""What is found: we, the peers by vector and fused with BM25, and BM25 alone, asked the same questions.

    python -m benchmarks.peers.quality QUESTIONS [QUESTIONS ...] --home HOME --staging STAGING [STAGING ...]
        [--stores DIR] [--runtime int8]

HOME is a knowledge base of the articles in STAGING, as `kb ingest` makes it; the peers' indexes are made in DIR unless
they are there. Questions are files as `kb evaluate` reads them, and the measures are the same.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import NAMES, OURS, RUNTIMES, Peer, about, sentence, write
from benchmarks.peers.corpus import copied, count
from kb_pipeline.evaluation.asking import DEPTH, Wording, outcome_of, wordings
from kb_pipeline.evaluation.measures import scores_of, with_values
from kb_pipeline.evaluation.questions import QuestionSet, read_questions
from kb_pipeline.evaluation.records import QuestionOutcome
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.records import Chunk, SearchHit, SearchMode
from kb_pipeline.settings import load_settings

_PEERS = "langchain,llamaindex,llamaindex-text,haystack"
_MEASURES = ("article@1", "article@5", "MRR@10", "span@5")
_GROUPS = {"all": "as asked", "paraphrase": "in other words"}
_PEER_MODES = {"vector": "vector, its default", "hybrid": "vector and BM25, ranks fused", "keyword": "BM25 alone"}
_OUR_MODES: dict[SearchMode, str] = {"hybrid": "its default", "vector": "vector alone", "keyword": "BM25 alone"}


@dataclass(frozen=True)
class Asked:
    """One question set in all its wordings."""

    questions: QuestionSet
    wordings: Sequence[Wording]


def main() -> None:
    """Ask everybody, score, write the tables."""
    arguments = _arguments()
    sets = [read_questions(path) for path in arguments.questions]
    asked = [Asked(each, tuple(wordings([each]))) for each in sets]
    with tempfile.TemporaryDirectory(prefix="kb-peers-") as folder:
        work = Path(folder)
        staging = copied(arguments.staging, work / "staging")
        results = {label: scores_by_set(asked, found) for label, found in _ours(arguments.home, asked).items()}
        told: list[dict[str, Any]] = []
        for name in arguments.peers.split(","):
            peer = Peer(name, arguments.runtime, (arguments.stores or work) / f"{name}-{arguments.runtime}", work)
            told.append(_ready(peer, staging))
            found = _found(peer, asked, work)
            results |= {f"{NAMES[name]}: {how}": scores_by_set(asked, found[mode]) for mode, how in _PEER_MODES.items()}
        articles = count(staging)
    report = about(told) | {"articles": articles, "runtime": arguments.runtime, "results": results}
    report["questions"] = {one.questions.name: _counts(one) for one in asked}
    write(report, _table(report), arguments.out)


def _ours(home: Path, asked: Sequence[Asked]) -> dict[str, list[list[SearchHit]]]:
    reader = open_workspace(load_settings(home=str(home), staging=str(home.parent / "no-staging"))).reader()
    texts = [wording.text for one in asked for wording in one.wordings]
    return {
        f"kb_pipeline: {how}": [reader.search(text, top=DEPTH, mode=mode) for text in texts]
        for mode, how in _OUR_MODES.items()
    }


def _ready(peer: Peer, staging: Path) -> dict[str, Any]:
    """Make the peer's index, unless it is there."""
    made = peer.store.with_suffix(".made.json")
    if not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(peer.do("ingest", "--staging", str(staging))))
    known: dict[str, Any] = json.loads(made.read_text())
    return known


def _found(peer: Peer, asked: Sequence[Asked], work: Path) -> dict[str, list[list[SearchHit]]]:
    """By mode of search what the peer finds for each wording."""
    questions, out = work / "questions.json", work / "found.json"
    questions.write_text(json.dumps([wording.text for one in asked for wording in one.wordings]))
    peer.do("search", "--questions", str(questions), "--out", str(out))
    return {mode: [as_hits(found) for found in rankings] for mode, rankings in json.loads(out.read_text()).items()}


def as_hits(passages: Sequence[tuple[str, str]]) -> list[SearchHit]:
    """Article and text of what a peer found as hits of a search, best first, as deep as ours are looked at."""
    return [_hit(place, *passage) for place, passage in enumerate(passages[:DEPTH])]


def _hit(place: int, article_id: str, text: str) -> SearchHit:
    chunk = Chunk(
        id=str(place),
        article_id=article_id,
        chunk_index=place,
        title="",
        section_header="",
        heading_path=(),
        content=text,
        content_hash="",
    )
    return SearchHit(chunk=chunk, score=-place)


def scores_by_set(asked: Sequence[Asked], found: Sequence[Sequence[SearchHit]]) -> dict[str, Any]:
    """By question set, measure and group."""
    rest, scores = list(found), {}
    for one in asked:
        outcomes: list[QuestionOutcome] = [
            outcome_of(wording, hits) for wording, hits in zip(one.wordings, rest, strict=False)
        ]
        rest = rest[len(one.wordings) :]
        measured = scores_of(with_values(outcomes))
        scores[one.questions.name] = {
            name: {group: measured[name][group].model_dump() for group in _GROUPS if group in measured[name]}
            for name in _MEASURES
            if name in measured
        }
    return scores


def _counts(one: Asked) -> dict[str, int]:
    answerable = [wording for wording in one.wordings if wording.question.article_id]
    other = sum(wording.paraphrase for wording in answerable)
    return {"as asked": len(answerable) - other, "in other words": other}


def _table(report: dict[str, Any]) -> str:
    parts = [
        f"{report['articles']} articles, all with all-MiniLM-L6-v2 ({RUNTIMES[report['runtime']]}). "
        f"{sentence(report)} Brackets: 95 % bootstrap intervals.\n"
    ]
    for name, counts in report["questions"].items():
        for group, title in _GROUPS.items():
            parts.append(f"\n`{name}`, {counts[title]} questions {title}:\n\n| | {' | '.join(_MEASURES)} |\n")
            parts.append("|---" * (len(_MEASURES) + 1) + "|\n")
            parts += [_row(label, scores[name], group) for label, scores in report["results"].items()]
    return "".join(parts)


def _row(label: str, scores: Mapping[str, Mapping[str, Any]], group: str) -> str:
    cells = []
    for measure in _MEASURES:
        score = scores.get(measure, {}).get(group)
        cells.append(f"{score['value']:.2f} ({score['low']:.2f}-{score['high']:.2f})" if score else "")
    return f"| {label} | {' | '.join(cells)} |\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="our knowledge base of the same articles; only read")
    parser.add_argument("--staging", nargs="+", type=Path, required=True)
    parser.add_argument("--stores", type=Path, default=None, help="where the peers' indexes are kept for another time")
    parser.add_argument("--peers", default=_PEERS, help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--runtime", choices=tuple(RUNTIMES), default=OURS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/peers_quality.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
