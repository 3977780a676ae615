"""Questions about manuals that no one words: headings, and what a sentence defines.

- A heading of the outline as it stands, without its number: two words and ten letters or more, an entry of no other
  manual and only once of its own, a line of one page only, and 200 letters or more stand below it on that page.
- "What is X?" where a sentence of an English manual begins with "X is a", or "The X is a": a name, which is a word or
  more with capitals that stands within three sentences of its manual, and only one sentence of all manuals begins so.

Of each manual up to three headings and two definitions are taken, by the hash of the question, so that nobody chooses.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from benchmarks.converters.manuals import without_number
from benchmarks.manuals.truth import Manual, letters_of, words_of
from kb_pipeline.evaluation.questions import EvaluationQuestion

_HEADINGS, _DEFINITIONS = 3, 2
_BELOW = 200
_LETTERS = 10
_NAMED = 3
"""A name stands within so many sentences."""
_DEFINED = re.compile(r"(?:^|(?<=[.!?]\s))(?:The |An? )?([A-Z][\w-]+(?: [A-Z][\w-]+){0,3}) is an? (?=\w)")


def questions_of(manuals: Mapping[str, Manual]) -> list[EvaluationQuestion]:
    """The questions about all manuals, by their file names."""
    titles = Counter(letters_of(without_number(entry.title)) for manual in manuals.values() for entry in manual.entries)
    defined = Counter(term.casefold() for manual in manuals.values() for term, _ in _definitions(manual))
    asked = (
        question
        for name, manual in manuals.items()
        for question in (
            *_chosen(_about_headings(name, manual, titles), _HEADINGS),
            *_chosen(
                (
                    EvaluationQuestion(question=f"What is {term}?", article_id=name, page=page, kind="definition")
                    for term, page in _definitions(manual)
                    if defined[term.casefold()] == 1
                ),
                _DEFINITIONS,
            ),
        )
    )
    return list({question.id: question for question in asked}.values())


def _chosen(questions: Iterable[EvaluationQuestion], count: int) -> list[EvaluationQuestion]:
    each = {question.id: question for question in questions}
    return sorted(each.values(), key=lambda question: sha256(question.question.encode()).digest())[:count]


def _about_headings(name: str, manual: Manual, titles: Mapping[str, int]) -> Iterator[EvaluationQuestion]:
    lines = [[letters_of(without_number(line.text)) for line in page] for page in manual.own_lines]
    for entry in manual.standing:
        title = without_number(entry.title)
        key = letters_of(title)
        if titles[key] > 1 or len(key) < _LETTERS or len(words_of(title)) < 2:
            continue
        pages = [number for number, page in enumerate(lines, start=1) if key in page]
        if pages != [entry.page]:
            continue
        below = lines[entry.page - 1]
        if sum(map(len, below[below.index(key) + 1 :])) >= _BELOW:
            yield EvaluationQuestion(question=title, article_id=name, page=entry.page, kind="heading")


def _definitions(manual: Manual) -> Iterator[tuple[str, int]]:
    pages = [" ".join(line.text for line in lines) for lines in manual.own_lines]
    text = " ".join(pages)
    for number, page in enumerate(pages, start=1):
        for found in _DEFINED.finditer(page):
            if len(re.findall(rf"[a-z] {re.escape(found[1])}\b", text)) >= _NAMED:
                yield found[1], number
