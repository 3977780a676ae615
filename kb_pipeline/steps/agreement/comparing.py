"""Compares two statements: whether they say the same of the same, but for one value. Pure.

Much of what they say and of what is around must be equal, and it must tell enough: a word is weighed by how few
articles use it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

from kb_pipeline.records import Record
from kb_pipeline.steps.agreement.statements import ArticleStatement, Fact, is_code


class _Common(NamedTuple):
    """What two statements have in common, or need to have.

    ``alike`` and ``whole`` are shares of the weight of their words; for ``alike``, words outside of the value's clause
    count less. ``telling`` is how much the common words tell, those around the statements among them; ``said`` those
    that both say themselves; ``titles`` those that a title has, too: so many words that a single article uses.
    """

    alike: float
    whole: float
    telling: float
    said: float
    titles: float

    def is_enough(self, ways: "_Needed") -> bool:
        """Whether this is enough in one of several ways."""
        return any(all(each >= least for each, least in zip(self, way, strict=True)) for way in ways)


_Needed = tuple[_Common, ...]

# Measured on 71 contradictions between invented articles and 330 real articles (benchmarks/contradictions.py): below,
# real statements about two things are taken for contradictions. What is worded quite differently must tell more, and
# name its subject.
_EQUAL: _Needed = (_Common(0.57, 0, 0.9, 0.4, 0),)
_NUMBER: _Needed = (_Common(0.8, 0, 1.4, 1.0, 0), _Common(0.63, 0, 1.4, 1.0, 0.5), _Common(0.45, 0, 1.6, 1.3, 1.0))
_ADDRESS: _Needed = (_Common(0.57, 0, 1.0, 0.6, 0),)
_PLACE_OF_MANY: _Needed = (_Common(0, 0.75, 2.0, 1.2, 0),)
_NAMES: _Needed = (_Common(0, 0.68, 1.1, 1.1, 0),)
"""If each has several words, as those of persons and teams have."""
_NAME: _Needed = (_Common(0, 0.8, 1.8, 1.5, 0),)
"""If one is a single word: words with a capital letter differ in many sentences that are both true."""
_OF_MANY = frozenset({"file", "keys"})
"""Addresses of which there are so many that sentences about two of them are worded alike."""
_ASIDE = 0.3
"""What a word of another clause than the value's counts."""
_ADDED = 0.2
"""What a word counts that the longer of two statements adds to the other."""
_LABELS = 0.4
"""How much the word before a number must tell: "macOS 12" has a version, but every article has its "Figure 2"."""
_AS_LIKE = 0.9
"""Share of the likeness of the statement that is most alike from which another one speaks as much of the same."""
_STEM = 5
"""Letters from which the beginning or the end of a word counts as the word: "projekt" of "projektend"."""
_LONGEST_ENDING = 3
"""Letters after a beginning of one letter less: "rent" and "rental"."""


class Difference(Record):
    """Two statements that speak of the same: where ``kind`` is "", they also say the same. ``alike``: how much so."""

    kind: str
    here: str = ""
    there: str = ""
    alike: float = 1.0


@dataclass(frozen=True)
class Weights:
    """How much words tell: ``articles`` have a word, of ``total``."""

    articles: Mapping[str, int]
    total: int

    def of(self, words: Iterable[str]) -> float:
        """What the words tell, as so many words that a single article uses."""
        return sum(log(1 + self.total / max(1, self.articles.get(word, 1))) for word in words) / log(1 + self.total)


def compared(one: ArticleStatement, other: ArticleStatement, weights: Weights) -> Difference | None:
    """How two statements differ; ``None`` if they do not speak of the same, or differ in more than one value."""
    own, others = frozenset(one.words), frozenset(other.words)
    if not own & (others | other.around) or (found := _difference(one, other)) is None:
        return None
    if found.label and weights.of(found.label) < _LABELS:
        return None
    both_say = weights.of((own & others) - found.said)
    if both_say < min(way.said for way in found.needed):  # as of most pairs: the rest costs more
        return None
    shared, only, only_other = _divided(one, other, found.said)
    if _have_other_subjects(one, other, shared, only, only_other, found.said):
        return None
    tells = weights.of(shared)

    def alike(aside: float) -> float:
        """The share of the common words, if those outside of the clauses of the values count so much."""
        less, more = sorted(
            weights.of(words & clause) + aside * weights.of(words - clause)
            for words, clause in zip((only, only_other), found.clauses, strict=True)
        )
        return tells / (tells + less + _ADDED * more) if tells else 0.0

    common = _Common(
        alike(_ASIDE),
        alike(1.0),
        tells,
        both_say,
        weights.of(shared & (one.title | other.title)),
    )
    return found.difference.model_copy(update={"alike": common.alike}) if common.is_enough(found.needed) else None


def _divided(
    one: ArticleStatement, other: ArticleStatement, said: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words that both have in what they say or around it, and those that only the one or the other says."""
    own, others = frozenset(one.words) - said, frozenset(other.words) - said
    all_, all_others = own | one.around, others | other.around
    shared, only, only_other = set(own & all_others | others & all_), set(own - all_others), set(others - all_)
    in_order = sorted(all_others)
    for word in sorted(only):
        if same := next(_beginning_alike(word, in_order), None):
            shared.add(word)
            only.discard(word)
            only_other.discard(same)
    for word in sorted(only_other):
        if any(_beginning_alike(word, all_)):
            shared.add(word)
            only_other.discard(word)
    return frozenset(shared), frozenset(only), frozenset(only_other)


def _beginning_alike(word: str, others: Iterable[str]) -> Iterator[str]:
    """Those that begin or end with the word, or it with them; most have neither its first nor its last letters."""
    first, last = word[: _STEM - 1], word[-_STEM:]
    return (each for each in others if (each.startswith(first) or each.endswith(last)) and _begin_alike(word, each))


def _begin_alike(word: str, other: str) -> bool:
    """Whether one word begins or ends with the other: "projekt" and "projektend"."""
    short, long = sorted((word, other), key=len)
    if len(short) >= _STEM and (long.startswith(short) or long.endswith(short)):
        return True
    return len(short) == _STEM - 1 and long.startswith(short) and len(long) - len(short) <= _LONGEST_ENDING


def _have_other_subjects(
    one: ArticleStatement,
    other: ArticleStatement,
    shared: frozenset[str],
    only: frozenset[str],
    only_other: frozenset[str],
    said: frozenset[str],
) -> bool:
    """Whether two statements speak of two things, versions or models that are alike."""
    in_titles_alone = _are_siblings(one.title, other.title) and not shared & (one.title ^ other.title)
    return bool(
        in_titles_alone
        or (only & one.around and only_other & other.around)  # each names what its own title or heading names
        or (_named(one) & only - said and _named(other) & only_other - said)
        or (_codes(only) and _codes(only_other))
        or _is_mostly(one.subject, only)
        or _is_mostly(other.subject, only_other)
        or (_codes(one.title) - _codes(other.title) and _codes(other.title) - _codes(one.title))
    )


def _is_mostly(subject: frozenset[str], only: frozenset[str]) -> bool:
    """Whether half of the words of what a row is about are in it alone."""
    return bool(subject) and 2 * len(subject & only) >= len(subject)


def _named(statement: ArticleStatement) -> frozenset[str]:
    return frozenset(stem for name in statement.names for stem in name.readings)


class _Differing(NamedTuple):
    """In what two statements differ, and what they must have in common.

    ``said`` are the stems of names that differ, ``label`` is the word to which numbers belong, ``clauses`` are the
    stems of the clauses of the values.
    """

    difference: Difference
    needed: _Needed
    clauses: tuple[frozenset[str], frozenset[str]]
    said: frozenset[str] = frozenset()
    label: frozenset[str] = frozenset()


def _difference(one: ArticleStatement, other: ArticleStatement) -> _Differing | None:
    """In what two statements differ; ``None`` if in more than one value."""
    facts, other_facts = _unequal(one.facts, other.facts)
    pairs = _plain([(fact, each) for fact in facts for each in other_facts if _measure_the_same(fact, each)])
    if pairs:
        return _of_values(*pairs[0]) if len(pairs) == 1 else None
    own, others = Counter(one.words), Counter(other.words)
    names = [name for name in one.names if name.readings & (own - others).keys()]
    other_names = [name for name in other.names if name.readings & (others - own).keys()]
    differing = _plain([(name, each) for name in names for each in other_names if _may_differ(name, each, one, other)])
    if len(differing) == 1 and not (facts and other_facts):
        return _of_names(*differing[0])
    if facts or other_facts or differing:
        return None
    return _Differing(Difference(kind=""), _EQUAL, (frozenset(one.words), frozenset(other.words)))


def _of_values(fact: Fact, other: Fact) -> _Differing:
    kind = {"date": "date", "time": "date", "address": "name"}.get(fact.kind, "number")
    needed = _NUMBER if fact.kind != "address" else _PLACE_OF_MANY if fact.dimensions & _OF_MANY else _ADDRESS
    difference = Difference(kind=kind, here=fact.text, there=other.text)
    return _Differing(difference, needed, (fact.clause, other.clause), label=_label(fact, other))


def _of_names(name: Fact, other: Fact) -> _Differing:
    needed = _NAMES if " " in name.text and " " in other.text else _NAME
    difference = Difference(kind="name", here=name.text, there=other.text)
    return _Differing(difference, needed, (name.clause, other.clause), said=name.readings | other.readings)


def _plain(pairs: list[tuple[Fact, Fact]]) -> list[tuple[Fact, Fact]]:
    """The pair of values, if there is one; of several, those that stand beside the same words."""
    return pairs if len(pairs) < 2 else [pair for pair in pairs if pair[0].is_beside_the_same(pair[1])]


def _are_siblings(title: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles name variants of one thing: they have words in common, and each has words of its own."""
    return 2 * len(title & other) >= max(len(title), len(other)) > 0 and bool(title - other) and bool(other - title)


def _codes(words: Iterable[str]) -> set[str]:
    return {word for word in words if is_code(word)}


def _unequal(facts: Sequence[Fact], others: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The facts of each that the other has not."""
    return (
        [fact for fact in facts if not any(fact.equals(other) for other in others)],
        [other for other in others if not any(fact.equals(other) for fact in facts)],
    )


def _measure_the_same(fact: Fact, other: Fact) -> bool:
    """Whether two values are measured alike, bounded alike, and plain numbers count the same."""
    common = fact.dimensions & other.dimensions
    kinds = {fact.kind, other.kind}
    if (
        not common
        or {fact.bound, other.bound} == {"least", "most"}
        or (len(kinds) > 1 and kinds != {"number", "label"})
    ):
        return False
    if "label" in kinds:
        return bool(_label(fact, other))
    return not all("number" in each for each in common) or _count_the_same(fact, other)


def _label(fact: Fact, other: Fact) -> frozenset[str]:
    """The word to which the numbers belong, if one does: "port" of "port 80" and "ports: 80"."""
    if fact.kind == other.kind:
        return fact.before & other.before if fact.kind == "label" else frozenset()
    label, number = sorted((fact, other), key=lambda each: each.kind)
    return label.before & (number.before | number.after)


def _count_the_same(fact: Fact, other: Fact) -> bool:
    """Whether the same word follows two plain numbers; where one ends its sentence, whether the same precedes them."""
    return bool(fact.after & other.after if fact.after and other.after else fact.before & other.before)


def _may_differ(name: Fact, other: Fact, one: ArticleStatement, another: ArticleStatement) -> bool:
    """Whether two names are said of the same: not what the sentence, the title or a heading speaks of."""
    said = name.readings | other.readings
    return (
        name.kind == other.kind
        and name.is_beside_the_same(other)
        and not said & (one.around | another.around | {one.words[0], another.words[0]})
        and name.text.split()[-1].casefold() != other.text.split()[-1].casefold()  # Mrs Miller is Anna Miller
        and not (name.text.isupper() or other.text.isupper())  # commands and abbreviations: there are many in manuals
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
    statement: ArticleStatement
    difference: Difference


def contradicting(article_id: str, met: Collection[Met], met_by: Callable[[Met], Collection[Met]]) -> Iterator[Met]:
    """Those of the statements that a statement of the article met which contradict it.

    ``met`` are all that speak of the same, those of its own article among them; ``met_by`` has the same for each of
    these. What is said with several values, or with both in one article, is a form that is filled in rightly.
    """
    if _is_form(met):
        return
    saying_the_same = {each.article_id for each in met if not each.difference.kind}
    for other in _likest(met):
        if other.article_id in {article_id, *saying_the_same}:
            continue
        back = met_by(other)
        if not _is_form(back) and article_id not in {each.article_id for each in back if not each.difference.kind}:
            yield other


def _is_form(met: Iterable[Met]) -> bool:
    """Whether several values stand where a statement has its own."""
    return len({each.difference.there.casefold() for each in _likest(met)}) > 1


def _likest(met: Iterable[Met]) -> list[Met]:
    """Those that differ and are most like the statement; others differ because they speak of something less like it."""
    differing = [each for each in met if each.difference.kind]
    best = max((each.difference.alike for each in differing), default=0.0)
    return [each for each in differing if each.difference.alike >= _AS_LIKE * best]
