"""How many planted contradictions the check ``statements_agree`` finds, and how often it warns without a reason.

    python -m benchmarks.contradictions --home HOME [--plants N] [--most ARTICLES] [--seed N] [--show]

The knowledge base is only read. Sentences of its articles are said again in other words with another number, date or
name (:mod:`benchmarks.planting`), each in an article that is drawn by chance; then all articles are read and compared
as at their first ingest. What is found between sentences that nobody planted counts as false: look at it with
``--show``, because real articles contradict one another, too. A home of which only ``converted`` was made will do.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.planting import Kind, Plant, plants_of
from kb_pipeline.flow.agreement import compare_new
from kb_pipeline.records import Chunk
from kb_pipeline.steps.agreement.findings import Finding
from kb_pipeline.steps.agreement.statements import statements_of
from kb_pipeline.steps.summary.prose import first_headings, readable_text, sentences
from kb_pipeline.store.statements import Statements

_SHARES: Mapping[Kind, float] = {"number": 0.5, "date": 0.25, "name": 0.25}


def main() -> None:
    """Plant, compare, and print what was found."""
    options = _options()
    chance = random.Random(options.seed)
    articles = dict(_articles(options.home))
    if options.most and options.most < len(articles):
        articles = {key: articles[key] for key in sorted(chance.sample(sorted(articles), options.most))}
    plants = _plants(articles, options.plants, chance)
    planted_in: dict[str, list[str]] = {}
    for plant in plants:
        host = chance.choice([key for key in articles if key != plant.article_id])
        planted_in.setdefault(host, []).append(plant.planted)
    with TemporaryDirectory() as folder, closing(Statements(Path(folder) / "statements.sqlite")) as kept:
        started = time.process_time()
        for article_id, (title, markdown) in articles.items():
            text = "\n\n".join([markdown, *planted_in.get(article_id, ())])
            kept.replace(article_id, "1", title, statements_of([_section(article_id, title, text)]))
        read = time.process_time()
        compare_new(kept, "benchmark")
        compared = time.process_time()
        findings = {
            frozenset((each.here.text, each.there.text)): each for of in kept.findings().values() for each in of
        }
    print(f"{len(articles):,} articles: {read - started:.1f} CPU s to read, {compared - read:.1f} to compare")
    _print(plants, findings, show=options.show)


def _print(plants: Sequence[Plant], findings: Mapping[frozenset[str], Finding], *, show: bool) -> None:
    found = {plant: [pair for pair in findings if _is_in(plant, pair)] for plant in plants}
    right = {pair for pairs in found.values() for pair in pairs}
    all_, hit = Counter(plant.kind for plant in plants), Counter(plant.kind for plant, pairs in found.items() if pairs)
    for kind, number in all_.items():
        print(f"{kind}: {hit[kind]} of {number} found ({hit[kind] / number:.2f})")
    print(f"all: {hit.total()} of {all_.total()} ({hit.total() / max(1, all_.total()):.2f})")
    print(f"between sentences that nobody planted: {len(findings) - len(right)}")
    if show:
        for plant in (plant for plant, pairs in found.items() if not pairs):
            print(f"\nnot found: {plant.kind} of {plant.article_id}\n  {plant.original}\n  {plant.planted}")
        for finding in (each for pair, each in findings.items() if pair not in right):
            print(f"\nnot planted: {finding.here.says} | {finding.there.says}")
            print(*(f"  {each.article_id}: {each.text}" for each in (finding.here, finding.there)), sep="\n")


def _is_in(plant: Plant, pair: frozenset[str]) -> bool:
    return any(text in plant.planted or plant.planted in text for text in pair)


def _articles(home: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Title and markdown by article id."""
    for path in sorted(home.glob("converted/*/article.md")):
        markdown = path.read_text(encoding="utf-8")
        title = markdown.partition("\n")[0] if markdown.startswith("#") else ""
        title = title or next((heading.text for heading in first_headings(markdown)), path.parent.name)
        yield path.parent.name, (readable_text(title) or path.parent.name, markdown)


def _plants(articles: Mapping[str, tuple[str, str]], number: int, chance: random.Random) -> list[Plant]:
    """So many plants of each kind as there are, at most one of an article."""
    possible = [
        plant
        for article_id, (title, markdown) in articles.items()
        for plant in plants_of(article_id, title, [each.text for each in sentences(markdown)], chance)
    ]
    chance.shuffle(possible)
    chosen: dict[str, Plant] = {}
    left = {kind: round(number * share) for kind, share in _SHARES.items()}
    for plant in possible:
        if left[plant.kind] and plant.article_id not in chosen:
            chosen[plant.article_id] = plant
            left[plant.kind] -= 1
    return list(chosen.values())


def _section(article_id: str, title: str, text: str) -> Chunk:
    return Chunk(
        id=article_id,
        article_id=article_id,
        chunk_index=0,
        title=title,
        section_header=title,
        heading_path=(title,),
        content=text,
        content_hash="",
    )


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--plants", type=int, default=100)
    options.add_argument("--most", type=int, default=0, help="articles; default: all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", action="store_true")
    return options.parse_args()


if __name__ == "__main__":
    main()
