"""Check for keyword stuffing: text that repeats a few words over and over, so that searches find it before others.

It counts distinct words and has no list of words, so it holds for every language that separates words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kb_pipeline.records import CheckResult, ConvertedArticle
from kb_pipeline.steps.checks.contents import contents_of
from kb_pipeline.steps.checks.specs import named, outcome

_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"\[\[IMG:[^\[\]]*+\]\]")
"""Many icons may stand in a row."""
_WINDOW = 100
"""Words that are looked at together."""
_IN_A_PARAGRAPH, _IN_THE_ARTICLE = 25, 12
"""Distinct words that so many words have at least, in one paragraph and over several of them.

Of 994 articles of three manuals the poorest have 33 in a paragraph, and 18 in a row of list items and cells."""


def words_are_not_stuffed(article: ConvertedArticle) -> CheckResult:
    """Check that no hundred words in a row are a few words over and over."""
    prose = contents_of(article.markdown).prose
    pieces = [(place.section, _WORD.findall(_MARKER.sub(" ", place.text).lower())) for place in prose]
    stuffed = [(section, words) for section, words in pieces if _fewest_distinct(words) < _IN_A_PARAGRAPH]
    everything = [word for _, words in pieces for word in words]
    if not stuffed and _fewest_distinct(everything) < _IN_THE_ARTICLE:
        stuffed = [("", everything)]
    problems = named("part", "repeats a few words over and over", list(_most_frequent(stuffed)))
    advice = "Whether it was written for readers or for the search, a person has to see: remove it from the source."
    return outcome("words_are_not_stuffed", list(problems), advice, {"stuffed": len(stuffed)})


def _fewest_distinct(words: Sequence[str]) -> int:
    """Return the number of distinct words among the hundred in a row that have the fewest."""
    if len(words) < _WINDOW:
        return _WINDOW
    within = Counter(words[:_WINDOW])
    fewest = len(within)
    for gone, come in zip(words, words[_WINDOW:], strict=False):
        within[come] += 1
        within[gone] -= 1
        if not within[gone]:
            del within[gone]
        fewest = min(fewest, len(within))
    return fewest


def _most_frequent(stuffed: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for section, words in stuffed:
        frequent = ", ".join(word for word, _ in Counter(words).most_common(3))
        yield f"{frequent} (below {section})" if section else frequent
