"""Full-text search: an analyzer of four steps, the simple query syntax, BM25 (Robertson, Zaragoza 2009)."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STOPWORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUERY = re.compile(r'([-+]?)(?:"([^"]*)"|([^\s"+|()]+))')
_K1, _B = 1.2, 0.75


def analyze(text: str) -> list[str]:
    """Lower case, without accents, without stop words, stemmed (crudely)."""
    folded = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return [_stem(word) for word in _WORD.findall(plain) if word not in STOPWORDS]


def _stem(word: str) -> str:
    for ending in ("'s", "’s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


@dataclass(frozen=True)
class WordQuery:
    """A query in simple syntax, analysed."""

    wanted: tuple[str, ...]
    required: tuple[str, ...]
    excluded: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    prefixes: tuple[str, ...]

    def admits(self, tokens: Sequence[str]) -> bool:
        there = set(tokens)
        phrased = all(_holds(tokens, phrase) for phrase in self.phrases)
        prefixed = all(any(token.startswith(prefix) for token in there) for prefix in self.prefixes)
        return phrased and prefixed and there.issuperset(self.required) and there.isdisjoint(self.excluded)


def parse_query(text: str) -> WordQuery:
    wanted: list[str] = []
    required: list[str] = []
    excluded: list[str] = []
    phrases: list[tuple[str, ...]] = []
    prefixes: list[str] = []
    for sign, phrase, word in _QUERY.findall(text):
        tokens = analyze(phrase or word)
        if sign == "-":
            excluded += tokens
            continue
        wanted += tokens
        if sign == "+":
            required += tokens
        if phrase:
            phrases.append(tuple(tokens))
        if word.endswith("*"):
            prefixes.append(word.rstrip("*").lower())
    return WordQuery(*map(tuple, (wanted, required, excluded, phrases, prefixes)))  # type: ignore[arg-type]


def _holds(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(tokens[i : i + len(phrase)]) == tuple(phrase) for i in range(len(tokens)))


def bm25(query: WordQuery, documents: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Scores of the documents that hold a word of the query, by key."""
    counted = {key: Counter(tokens) for key, tokens in documents.items()}
    length = sum(map(len, documents.values())) / (len(documents) or 1) or 1
    scores: dict[str, float] = {}
    for word in dict.fromkeys(query.wanted):
        holding = [key for key, counts in counted.items() if word in counts]
        weight = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for key in holding:
            count = counted[key][word]
            norm = _K1 * (1 - _B + _B * len(documents[key]) / length)
            scores[key] = scores.get(key, 0.0) + weight * count * (_K1 + 1) / (count + norm)
    return {key: score for key, score in scores.items() if query.admits(documents[key])}
