"""Which sections the search finds: Anthropic's questions about its documentation, counted as Anthropic counts.

    python -m benchmarks.public.sections_found DOCS.json QUESTIONS.json --work FOLDER [--top 3]

DOCS is ``data/anthropic_docs.json`` and QUESTIONS ``evaluation/docs_evaluation_dataset.json`` of the guide
``retrieval_augmented_generation`` in https://github.com/anthropics/claude-cookbooks: sections with their links, and
questions with the links of the right ones. Each page of the documentation becomes an article in Markdown, called by the
last part of its address, with its sections below their headings; a section that is found in several passages is found
where its best one is, and those that share a passage because they are small are found together. Articles that are in
WORK are not ingested again.
"""

import argparse
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.public.ingesting import ingested
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import plain_text

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!+.-])")
_HEADING = re.compile(r"^## .+$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_SPARE = 4
"""Passages for each wanted section, as long sections have several."""


def article_id_of(link: str) -> str:
    """The article of a section: the path of its page, without the language."""
    path = link.partition("#")[0].partition("/en/")[2].strip("/")
    return path.replace("/", "-")


def article_of(sections: Sequence[Mapping[str, str]]) -> str:
    """The Markdown of a page: a line of the data is a paragraph."""
    name = sections[0]["chunk_link"].partition("#")[0].rstrip("/").rpartition("/")[2]
    blocks = [f"# {name.replace('-', ' ').capitalize()}"]
    for section in sections:
        heading, *lines = (_MARKUP.sub(r"\\\1", line.strip()) for line in section["text"].split("\n") if line.strip())
        blocks += [f"## {heading}", *lines]
    return "\n\n".join(blocks) + "\n"


def measures(found: Sequence[str], right: Collection[str]) -> tuple[float, float, float]:
    """Recall, precision and reciprocal rank of the links that were found, as Anthropic computes them."""
    both = len(set(found) & set(right))
    rank = next((place for place, link in enumerate(found, start=1) if link in right), 0)
    return both / len(right), both / len(found) if found else 0.0, 1 / rank if rank else 0.0


def section_key(article_id: str, heading: str) -> tuple[str, ...]:
    """What a section is known by, however its heading is written in Markdown."""
    return (article_id, *_WORD.findall(heading.lower()))


def sections_in(chunk: Chunk) -> list[tuple[str, ...]]:
    """The sections that a passage holds, or the one that it is a part of."""
    headings = map(plain_text, _HEADING.findall(chunk.content))
    return [section_key(chunk.article_id, heading) for heading in (*headings,) or (chunk.section_header,)]


def distinct(links: Iterable[str | None], count: int) -> list[str]:
    """The first links, each once."""
    return list(dict.fromkeys(link for link in links if link))[:count]


def _by_page(sections: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    pages: dict[str, list[Mapping[str, str]]] = {}
    for section in sections:
        pages.setdefault(article_id_of(section["chunk_link"]), []).append(section)
    yield from pages.items()


def main() -> None:
    """Ingest, search, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--top", type=int, default=3)
    parser.add_argument("--log", type=Path, help="where to write what was found, a line for each question")
    arguments = parser.parse_args()
    sections: list[dict[str, str]] = json.loads(arguments.docs.read_text(encoding="utf-8"))
    questions: list[dict[str, Any]] = json.loads(arguments.questions.read_text(encoding="utf-8"))
    for article_id, of_page in _by_page(sections):
        folder = arguments.work / "staging" / article_id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "index.md").write_text(article_of(of_page), encoding="utf-8")
    reader = open_workspace(ingested(arguments.work)).reader()
    links = {
        section_key(article_id_of(each["chunk_link"]), each["chunk_heading"]): each["chunk_link"] for each in sections
    }
    scores, entries = [], []
    for question in questions:
        hits = reader.search(question["question"], top=_SPARE * arguments.top)
        found = distinct((links.get(key) for hit in hits for key in sections_in(hit.chunk)), arguments.top)
        scores.append(measures(found, question["correct_chunks"]))
        entries.append({**question, "found": found})
    if arguments.log:
        arguments.log.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    recall, precision, rank = map(mean, zip(*scores, strict=True))
    top = arguments.top
    print(
        f"{len(questions)} questions: recall@{top} {recall:.3f}, precision@{top} {precision:.3f}, MRR@{top} {rank:.3f}"
    )


if __name__ == "__main__":
    main()
