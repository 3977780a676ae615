"""Compares two statements: whether they say the same of the same, but for one value. Pure.

Nearly all words must be equal, and they must say enough: what they say is weighed by how few articles use a word.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from kb_pipeline.records import Record
from kb_pipeline.steps.agreement.statements import Fact, Statement, is_code

_ALIKE = 0.6
"""Share of the weight of two statements' words from which they speak of the same, if a number or date differs."""
_ALIKE_BUT_FOR_NAME = 0.75
"""The same if a name differs, because names differ in more sentences that are both true."""
_ADDED = 0.35
"""What a word counts that the longer of two statements adds to the other."""
_TELLING, _TELLING_BUT_FOR_NAME = 1.3, 2.0
"""How much the common words must tell: so many words that a single article uses."""
_RARE = 3
"""Articles that use a word which alone says what is spoken of."""
_FEWEST_WORDS, _FEWEST_BUT_FOR_NAME = 3, 4
"""Words that two statements have in common."""


class Difference(Record):
    """Two statements that speak of the same: where ``kind`` is "", they also say the same."""

    kind: str
    here: str = ""
    there: str = ""


@dataclass(frozen=True)
class Weights:
    """How much words tell: ``articles`` have a word, of ``total``."""

    articles: Mapping[str, int]
    total: int

    def of(self, words: Iterable[str]) -> float:
        """What the words tell, as so many words that a single article uses."""
        return sum(log(1 + self.total / max(1, self.articles.get(word, 1))) for word in words) / log(1 + self.total)

    def rarest(self, words: Iterable[str]) -> int:
        """How many articles use the word that the fewest use."""
        return min((self.articles.get(word, 1) for word in words), default=self.total)


def compared(one: Statement, other: Statement, weights: Weights) -> Difference | None:
    """How two statements differ; ``None`` if they do not speak of the same, or differ in more than one value."""
    own, others = frozenset(one.words), frozenset(other.words)
    if len(own & others) < _FEWEST_WORDS or _have_other_subjects(one, other):
        return None
    found = _difference(one, other)
    if found is None:
        return None
    difference, said = found
    shared, only, only_other = (own & others) - said, own - others - said, others - own - said
    is_name = difference.kind == "name"
    alike, telling = (_ALIKE_BUT_FOR_NAME, _TELLING_BUT_FOR_NAME) if is_name else (_ALIKE, _TELLING)
    if is_name and len(shared) < _FEWEST_BUT_FOR_NAME:
        return None
    tells = weights.of(shared)
    less, more = sorted((weights.of(only - other.around), weights.of(only_other - one.around)))
    if tells < telling or tells < alike * (tells + less + _ADDED * more):
        return None
    is_plain = tells >= _TELLING_BUT_FOR_NAME or shared & (one.title | other.title) or weights.rarest(shared) <= _RARE
    return difference if is_plain else None


def _have_other_subjects(one: Statement, other: Statement) -> bool:
    """Whether two statements speak of two things, versions or models that are alike."""
    own, others = frozenset(one.words), frozenset(other.words)
    only, only_other = own - others, others - own
    in_titles_alone = _are_siblings(one.title, other.title) and not own & others & (one.title ^ other.title)
    return bool(
        in_titles_alone
        or (only & one.around and only_other & other.around)  # each names what its own title or heading names
        or (_codes(only) and _codes(only_other))
        or (_codes(one.around) - _codes(other.around) and _codes(other.around) - _codes(one.around))
    )


def _difference(one: Statement, other: Statement) -> tuple[Difference, frozenset[str]] | None:
    """In what two statements differ, and the stems of the names that differ; ``None`` if in more than one value."""
    facts, other_facts = _unequal(one.facts, other.facts)
    if len(facts) != len(other_facts) or len(facts) > 1:
        return None
    own, others = Counter(one.words), Counter(other.words)
    names = [name for name in one.names if name.readings & (own - others).keys()]
    other_names = [name for name in other.names if name.readings & (others - own).keys()]
    if not names or not other_names:
        difference = _of_values(facts[0], other_facts[0]) if facts else Difference(kind="")
        return (difference, frozenset()) if difference else None
    if facts or len(names) > 1 or len(other_names) > 1 or not _may_differ(names[0], other_names[0], one, other):
        return None
    said = names[0].readings | other_names[0].readings
    return Difference(kind="name", here=names[0].text, there=other_names[0].text), said


def _are_siblings(title: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles name variants of one thing: they have words in common, and each has words of its own."""
    return 2 * len(title & other) >= min(len(title), len(other)) > 0 and bool(title - other) and bool(other - title)


def _codes(words: Iterable[str]) -> set[str]:
    return {word for word in words if is_code(word)}


def _unequal(facts: Sequence[Fact], others: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The facts of each that the other has not. Those that stand beside the same words are paired first."""
    left, left_others = list(facts), list(others)
    for is_near in (True, False):
        for fact in [*left]:
            equal = (each for each in left_others if each.readings & fact.readings)
            same = next((each for each in equal if each.is_beside_the_same(fact) or not is_near), None)
            if same:
                left.remove(fact)
                left_others.remove(same)
    return left, left_others


def _of_values(fact: Fact, other: Fact) -> Difference | None:
    """The difference of two values, if they are measured alike, and plain numbers count the same."""
    common = fact.dimensions & other.dimensions
    if fact.kind != other.kind or not common or (common == {"number"} and not _count_the_same(fact, other)):
        return None
    return Difference(kind="date" if fact.kind in ("date", "time") else "number", here=fact.text, there=other.text)


def _count_the_same(fact: Fact, other: Fact) -> bool:
    """Whether the same word follows two plain numbers; where one ends its sentence, whether the same precedes them."""
    return bool(fact.after & other.after if fact.after and other.after else fact.before & other.before)


def _may_differ(name: Fact, other: Fact, one: Statement, another: Statement) -> bool:
    """Whether two names are said of the same: not what the sentence, the title or a heading speaks of."""
    said = name.readings | other.readings
    return (
        name.kind == other.kind
        and name.is_beside_the_same(other)
        and not said & (one.around | another.around | {one.words[0], another.words[0]})
        and sum(each.readings == name.readings for each in one.names) == 1
        and sum(each.readings == other.readings for each in another.names) == 1
        and not _is_short_for(*sorted((name.text.casefold(), other.text.casefold()), key=len))
    )


def _is_short_for(short: str, long: str) -> bool:
    """Whether the letters of the one stand in the other in this order: "svn" in "subversion"."""
    letters = iter(long)
    return short[:1] == long[:1] and all(letter in letters for letter in short)


@dataclass(frozen=True)
class Met:
    """A statement of ``article_id`` that speaks of the same as another one, and how it differs from that."""

    key: int
    article_id: str
    statement: Statement
    difference: Difference


def contradicting(article_id: str, met: Collection[Met], met_by: Callable[[Met], Collection[Met]]) -> Iterator[Met]:
    """Those of the statements that a statement of the article met which contradict it.

    ``met`` are all that speak of the same, those of its own article among them; ``met_by`` has the same for each of
    these. What is said with several values, or with both in one article, is a form that is filled in rightly.
    """
    if _is_form(met):
        return
    saying_the_same = {each.article_id for each in met if not each.difference.kind}
    for other in met:
        if not other.difference.kind or other.article_id in {article_id, *saying_the_same}:
            continue
        back = met_by(other)
        if not _is_form(back) and article_id not in {each.article_id for each in back if not each.difference.kind}:
            yield other


def _is_form(met: Iterable[Met]) -> bool:
    """Whether several values stand where a statement has its own."""
    return len({each.difference.there.casefold() for each in met if each.difference.kind}) > 1
