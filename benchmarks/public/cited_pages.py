"""Which pages an answer cites: the ground truth of azure-search-openai-demo, counted as that project counts.

    python -m benchmarks.public.cited_pages GROUND_TRUTH.jsonl --documents FOLDER --work FOLDER [--questions 50]

GROUND_TRUTH is ``evals/ground_truth.jsonl`` of https://github.com/Azure-Samples/azure-search-openai-demo, and FOLDER of
documents its ``data``, of which the PDF and Markdown files are taken. Each line has a question and a true answer with
citations, ``[file.pdf#page=N]``; the measure is the share of them that an answer has as well (``citations_matched`` of
its ``evals/evaluate.py``). The second half of the file cites no pages. Settings come from the environment; without
KB_CHAT_MODEL, answers are quotations. Documents that are in WORK already are not ingested again.

The project names the page on which the passage begins that its model was given, so that many true pages are the one
before that with the answer. "Or the page before" counts a citation for these as well. The last rows say what it is
worth to cite those pages of all documents that say most of the true answer, in distinctive words: a limit for pages
that are chosen by what they say.
"""

import argparse
import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import pypdfium2

from app.answering.base import Question
from app.answering.grounded import GroundedAnswer
from app.callers.principal import Principal
from app.evaluating.asking import open_answer_evaluator
from app.grounding.citations import CitationBook
from app.grounding.references import used_numbers
from app.language.words import words
from app.schema.answers import ChatAnswer
from app.settings import load_app_settings
from benchmarks.public.ingesting import ingested
from kb_pipeline.settings import Settings

CITATION = re.compile(r"\[([^\]]+)\.\w{3,4}(#page=\d+)*\]")
"""A citation, by the expression of the project's own evaluation."""


class Cited(NamedTuple):
    """A page of a document."""

    filename: str
    page: int

    def __str__(self) -> str:
        return f"[{self.filename}#page={self.page}]"


def matched(truth: str, cited: Iterable[Cited]) -> float:
    """The share of the truth's citations that are cited, as the project computes it."""
    true = set(CITATION.findall(truth))
    return len(true & set(CITATION.findall("".join(map(str, cited))))) / len(true)


def cited_pages(answer: ChatAnswer, *, folded: bool, one_each: bool = False) -> list[Cited]:
    """The pages that readers are told beside the references before the fold, or beside all; of each passage all, or
    one.
    """
    end = answer.folded[0] if answer.folded and not folded else len(answer.answer)
    numbers = set(used_numbers(answer.answer[:end]))
    told = [citation for citation in answer.citations if citation.number in numbers]
    pages = (Cited(each.filename, page) for each in told for page in each.pages_for_readers[: 1 if one_each else None])
    return list(dict.fromkeys(pages))


def telling_pages(truth: str, pages: Mapping[Cited, frozenset[str]], count: int) -> list[Cited]:
    """The pages with most of the words of the true answer; the fewer pages have a word, the more it counts."""
    on = Counter(word for held in pages.values() for word in held)
    said = {word: 1 / on[word] for word in words(CITATION.sub("", truth)) if word in on}
    return sorted(pages, key=lambda page: -sum(said[word] for word in pages[page] & said.keys()))[:count]


def words_of_pages(documents: Path) -> dict[Cited, frozenset[str]]:
    """The words of each page of the PDF files, as PDFium reads them."""
    return {
        Cited(path.name, number): frozenset(words(page.get_textpage().get_text_range()))
        for path in sorted(documents.glob("*.pdf"))
        for number, page in enumerate(pypdfium2.PdfDocument(path), start=1)
    }


async def ask_all(settings: Settings, questions: Sequence[str]) -> list[ChatAnswer]:
    """Ask one question after the other."""
    app_settings = load_app_settings()
    async with open_answer_evaluator(settings, app_settings, graded=False) as evaluator:
        asked = [Question(text, Principal(), app_settings.search_top) for text in questions]
        return [await GroundedAnswer(evaluator.answerer, each, CitationBook()).whole() for each in asked]


def table(truths: Sequence[str], cited: Mapping[str, Sequence[Sequence[Cited]]]) -> Iterator[str]:
    """Markdown with a row for each way to cite."""
    yield from ("| cited | matched | or the page before | pages an answer |", "|---|---|---|---|")
    for name, of_each in cited.items():
        pairs = list(zip(truths, of_each, strict=True))
        exact = mean(matched(truth, pages) for truth, pages in pairs)
        near = mean(
            matched(truth, [*pages, *(each._replace(page=each.page - 1) for each in pages)]) for truth, pages in pairs
        )
        yield f"| {name} | {exact:.2f} | {near:.2f} | {mean(map(len, of_each)):.1f} |"


def main() -> None:
    """Ingest, ask, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ground_truth", type=Path)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=50, help="how many of the file, from its beginning")
    parser.add_argument("--log", type=Path, help="where to write each answer, a line each")
    arguments = parser.parse_args()
    lines = arguments.ground_truth.read_text(encoding="utf-8").splitlines()[: arguments.questions]
    asked = [json.loads(line) for line in lines]
    truths = [each["truth"] for each in asked]
    staging = arguments.work / "staging"
    staging.mkdir(parents=True, exist_ok=True)
    for document in sorted(arguments.documents.iterdir()):
        if document.suffix in {".pdf", ".md"}:
            shutil.copyfile(document, staging / document.name)
    answers = asyncio.run(ask_all(ingested(arguments.work), [each["question"] for each in asked]))
    if arguments.log:
        entries = (
            {**known, "answer": each.model_dump(mode="json")} for known, each in zip(asked, answers, strict=True)
        )
        arguments.log.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    known_pages = words_of_pages(arguments.documents)
    cited = {
        "before the fold": [cited_pages(answer, folded=False) for answer in answers],
        "one page of each passage": [cited_pages(answer, folded=True, one_each=True) for answer in answers],
        "all pages": [cited_pages(answer, folded=True) for answer in answers],
    }
    cited["three of these"] = [pages[:3] for pages in cited["one page of each passage"]]
    for count in (1, 2, 3):
        cited[f"limit: {count}"] = [telling_pages(truth, known_pages, count) for truth in truths]
    print("\n".join(table(truths, cited)))
    print(f"\n{sum(answer.clarification is not None for answer in answers)} of {len(answers)} were asked back")


if __name__ == "__main__":
    main()
