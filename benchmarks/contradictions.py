"""How many contradictions the check ``statements_agree`` finds, and how often it warns without a reason.

    python -m benchmarks.contradictions --home HOME [--most ARTICLES] [--show]

The knowledge base is only read. Articles as a support team writes them are put beside its own
(``benchmarks/agreement``); then all are read and compared as at their first ingest:

- ``contradicting``: two say the same of something with another value. The rules were made with these.
- ``unseen``: more of them, written when the rules stood.
- ``of_articles``: one contradicts an article of three manuals; of those that ``HOME`` has.
- ``agreeing``: two that do not, although they look alike: another product, plan, unit, bound.

What is found between the articles of ``HOME`` counts as false: look at it with ``--show``, because real articles
contradict one another, too. A home of which only ``converted_markdown`` was made will do.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import yaml  # type: ignore[import-untyped]

from kb_pipeline.flow.agreement import compare_new
from kb_pipeline.records import Chunk
from kb_pipeline.steps.agreement.findings import Finding
from kb_pipeline.steps.agreement.statements import statements_of
from kb_pipeline.steps.summary.prose import first_headings, readable_text
from kb_pipeline.store.statements import StatementStore

_FOLDER = Path(__file__).parent / "agreement"

Set = Literal["contradicting", "unseen", "of_articles", "agreeing"]


@dataclass(frozen=True)
class Pair:
    """Two articles, by their ids, and their texts, as far as they are none of the knowledge base."""

    set: Set
    kind: str
    article_ids: frozenset[str]
    texts: Mapping[str, str]
    values: tuple[str, ...]

    def is_found_by(self, finding: Finding) -> bool:
        """Whether a finding tells of these articles, and of these values if there are any."""
        if {finding.here.article_id, finding.there.article_id} != self.article_ids:
            return False
        said = (finding.here.says, finding.there.says)
        return not self.values or all(any(value in each or each in value for each in said) for value in self.values)


def main() -> None:
    """Put the articles beside those of a home, compare, and print what was found."""
    options = _options()
    articles = dict(_articles(options.home))
    pairs = [*_pairs(articles)]
    if options.most and options.most < len(articles):
        needed = {article_id for pair in pairs for article_id in pair.article_ids & articles.keys()}
        chosen = {*random.Random(options.seed).sample(sorted(articles), options.most), *needed}
        articles = {key: articles[key] for key in sorted(chosen)}
    real = articles.keys()
    added = {key: (_title(text, key), text) for pair in pairs for key, text in pair.texts.items()}
    with TemporaryDirectory() as folder, closing(StatementStore(Path(folder) / "statements.sqlite")) as kept:
        started = time.process_time()
        for article_id, (title, markdown) in (articles | added).items():
            kept.replace(article_id, "1", title, statements_of([_section(article_id, title, markdown)]))
        read = time.process_time()
        compare_new(kept, "benchmark")
        compared = time.process_time()
        findings = [each for article_id, of in kept.findings().items() for each in of if _is_first(each, article_id)]
    number = len(articles) + len(added)
    print(f"{len(real):,} articles, and {len(added)} beside them: ", end="")
    print(f"{1000 * (read - started) / number:.0f} CPU ms an article to read, ", end="")
    print(f"{1000 * (compared - read) / number:.0f} to compare")
    _print(pairs, findings, real, show=options.show)


def _print(pairs: Sequence[Pair], findings: Sequence[Finding], real: Collection[str], *, show: bool) -> None:
    found = [pair for pair in pairs if any(pair.is_found_by(finding) for finding in findings)]
    all_, hit = Counter(pair.set for pair in pairs), Counter(pair.set for pair in found)
    for name in get_args(Set):
        print(f"{name}: {hit[name]} of {all_[name]} ({hit[name] / max(1, all_[name]):.2f})")
    false = [each for each in findings if each.here.article_id in real and each.there.article_id in real]
    print(f"between articles of the home: {len(false)}")
    if show:
        for pair in pairs:
            if (pair in found) == (pair.set == "agreeing"):
                print(f"\n{pair.set}: {pair.kind} {' | '.join(pair.values)}", *pair.texts.values(), sep="\n")
        for finding in false:
            print(f"\nof the home: {finding.here.says} | {finding.there.says}")
            print(*(f"  {each.article_id}: {each.text}" for each in (finding.here, finding.there)), sep="\n")


def _is_first(finding: Finding, article_id: str) -> bool:
    """Whether a finding is seen from its first article, because each is told of both."""
    return article_id == finding.here.article_id < finding.there.article_id


def _pairs(articles: Collection[str]) -> Iterator[Pair]:
    for name in get_args(Set):
        for number, entry in enumerate(yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))):
            texts = {f"{name}-{number}-{side}": entry[side] for side in ("a", "b") if side in entry}
            other = entry.get("article")
            if other is None or other in articles:
                ids = frozenset({*texts, *({other} if other else ())})
                yield Pair(name, entry["kind"], ids, texts, tuple(entry.get("values", ())))


def _articles(home: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Title and markdown by article id."""
    for path in sorted(home.glob("converted/*/article.md")):
        markdown = path.read_text(encoding="utf-8")
        yield path.parent.name, (_title(markdown, path.parent.name), markdown)


def _title(markdown: str, article_id: str) -> str:
    title = markdown.partition("\n")[0] if markdown.startswith("#") else ""
    title = title or next((heading.text for heading in first_headings(markdown)), article_id)
    return readable_text(title) or article_id


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
    options.add_argument("--most", type=int, default=0, help="articles; default: all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", action="store_true")
    return options.parse_args()


if __name__ == "__main__":
    main()
