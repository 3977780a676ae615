"""Plants contradictions: says what a sentence of an article says in other words, with another number, date or name.

Everything follows from a seed. What a sentence may be planted from is decided here, without asking what finds it: it
stands by itself, names what its article is about, and states a value.
"""

import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "date", "name"]

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}} (?:{'|'.join(_MONTHS)}) \d{{4}}|(?:{'|'.join(_MONTHS)}) (?:\d{{1,2}}, )?\d{{4}})\b"
)
_NUMBER = re.compile(r"(?<![\w.,:/#+-])(?<![A-Z]\w )\d{1,5}(?:\.\d+)?(?![\w.:/-]*\w)(?= |%|,|\.$|\.\s)")
_COUNTS = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b")
_NUMBERED = re.compile(
    r"(?i:\b(?:versions?|releases?|figures?|sections?|chapters?|tables?|examples?|steps?|parts?|appendix)\W+)$"
    r"|[A-Z][\w.]*\s$|\d\W{1,3}$",
)
_NAME = re.compile(
    r"\b(?:in|by|from|on|at|to|with|of|called|named|is|are|as) (?:the |a |an )?"
    r"(?:[\"“](?P<quoted>[^\"“”]{3,30})[\"”]|(?P<name>[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}))(?=[ ,.;])(?! \d)"
)
_LEANS = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|here|there|but|and|or|so|also|however|then|note|see|for|in this|in that"
    r"|such|both|which|or by|by using)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\b(?:e\.g\.|example|instance|such as|see)\b", re.I)
_WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*", re.I)
_FEWEST, _MOST = 7, 32
"""Words of a sentence that is planted."""

_OTHER_WORDS = {
    "use": "employ", "uses": "employs", "used": "employed", "using": "employing", "show": "display",
    "shows": "displays", "shown": "displayed", "allow": "permit", "allows": "permits", "allowed": "permitted",
    "contains": "holds", "contain": "hold", "select": "choose", "selected": "chosen", "creates": "makes",
    "create": "make", "created": "made", "default": "standard", "must": "has to", "cannot": "is unable to",
    "can": "may", "change": "modify", "changes": "modifies", "changed": "modified", "begin": "start",
    "starts": "begins", "start": "begin", "set": "put", "sets": "puts", "specifies": "states", "specify": "state",
    "specified": "stated", "value": "figure", "values": "figures", "number": "count", "maximum": "greatest",
    "minimum": "smallest", "only": "merely", "usually": "normally", "many": "numerous", "several": "various",
    "big": "large", "large": "big", "small": "little", "need": "require", "needs": "requires", "required": "needed",
    "requires": "needs", "provides": "offers", "provide": "offer", "provided": "offered", "option": "choice",
    "options": "choices", "possible": "feasible", "automatically": "by itself", "every": "each", "each": "every",
    "also": "too", "delete": "remove", "deleted": "removed", "removed": "deleted", "remove": "delete",
    "returns": "gives back", "return": "give back", "within": "inside", "through": "via", "about": "around",
    "kept": "retained", "keep": "retain", "whole": "entire", "entire": "whole", "because": "since", "if": "in case",
    "when": "whenever", "often": "frequently", "stored": "saved", "store": "save", "increase": "raise",
    "reduce": "lower", "find": "locate", "called": "named", "pictures": "images",
}  # fmt: skip
"""What is said instead of frequent words of manuals."""
_BEFORE = (
    "Please keep in mind that ",
    "As a rule, ",
    "According to our notes, ",
    "Remember: ",
    "It is known that ",
    "",
)
_NAMES = (
    "Anna Miller",
    "Northwind",
    "Copenhagen",
    "Helvetica",
    "Brightside",
    "Orion Desk",
    "Marta Keller",
    "Blue Harbor",
)


@dataclass(frozen=True)
class Plant:
    """A sentence of an article, and what contradicts it; ``kind`` is what was changed."""

    article_id: str
    kind: Kind
    original: str
    planted: str


def plants_of(article_id: str, title: str, sentences: Sequence[str], chance: random.Random) -> Iterator[Plant]:
    """What can be planted from an article, at most one of a kind from each sentence."""
    subject = {word.lower() for word in _WORD.findall(title) if len(word) > 3}
    for sentence in sentences:
        words = [word.lower() for word in _WORD.findall(sentence)]
        if not _FEWEST <= len(words) <= _MOST or not sentence.endswith(".") or not sentence[0].isupper():
            continue
        if _LEANS.match(sentence) or _EXAMPLE.search(sentence) or not subject & set(words):
            continue
        for kind, changed in _changed(sentence, subject, chance):
            yield Plant(article_id, kind, sentence, in_other_words(changed, chance))


def _changed(sentence: str, subject: Collection[str], chance: random.Random) -> Iterator[tuple[Kind, str]]:
    if date := _DATE.search(sentence):
        yield "date", _replaced(sentence, date, _other_date(date[0], chance))
    found = (*_NUMBER.finditer(sentence), *_COUNTS.finditer(sentence))
    numbers = [match for match in found if not _NUMBERED.search(sentence[: match.start()])]
    if numbers and not date:
        chosen = chance.choice(numbers)
        yield "number", _replaced(sentence, chosen, _other_number(chosen[0], chance))
    names = [match for match in _NAME.finditer(sentence) if _is_said_of_subject(match, sentence, subject)]
    if names:
        name = chance.choice(names)
        said = name["quoted"] or name["name"]
        other = chance.choice([each for each in _NAMES if each not in sentence])
        yield "name", sentence.replace(said, other)


def _is_said_of_subject(name: re.Match[str], sentence: str, subject: Collection[str]) -> bool:
    """Whether a name is part of what is said, not what it is said of: it comes late, and is not in the title."""
    said = name["quoted"] or name["name"]
    words = {word.lower() for word in _WORD.findall(said)}
    if any(month in said for month in _MONTHS):
        return False
    return sentence.count(said) == 1 and name.start() > len(sentence) / 3 and not words & set(subject)


def _replaced(text: str, match: re.Match[str], other: str) -> str:
    return text[: match.start()] + other + text[match.end() :]


def _other_number(number: str, chance: random.Random) -> str:
    if not number[0].isdigit():
        words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"]
        return chance.choice([word for word in words if word != number])
    if "." in number:
        return f"{float(number) * chance.choice((2, 3, 10)) + 0.5:g}"
    value = int(number)
    return str(
        chance.choice(
            [each for each in (value * 2, value + 1, value * 10, value + 5, value // 2) if each not in (value, 0)]
        )
    )


def _other_date(date: str, chance: random.Random) -> str:
    month = next(each for each in _MONTHS if each in date)
    year = re.search(r"\d{4}", date)
    assert year is not None
    changes = (
        lambda: date.replace(month, chance.choice([each for each in _MONTHS if each != month])),
        lambda: date.replace(year[0], str(int(year[0]) + chance.choice((-2, -1, 1, 2)))),
    )
    return chance.choice(changes)()


def in_other_words(sentence: str, chance: random.Random) -> str:
    """The same with other words, in another order or voice, and with something before it."""
    for turn in chance.sample(_TURNS, len(_TURNS)):
        turned = turn(sentence)
        if turned != sentence:
            sentence = turned
            break
    before = chance.choice(_BEFORE)
    worded = _WORD.sub(lambda word: _said_otherwise(word[0], chance), sentence)
    return before + (worded[0].lower() + worded[1:] if before and not worded[:2].isupper() else worded)


def _said_otherwise(word: str, chance: random.Random) -> str:
    other = _OTHER_WORDS.get(word.lower())
    if other is None or chance.random() < 0.2:
        return word
    return other.capitalize() if word[0].isupper() else other


def _clause_last(sentence: str) -> str:
    """ "If A, B." becomes "B if A." """
    match = re.fullmatch(
        r"(?P<word>If|When|To|By|With|In|After|Before|Once|On) (?P<clause>[^,]{8,90}), (?P<rest>[^,;:]{12,})\.",
        sentence,
    )
    if not match:
        return sentence
    rest = match["rest"]
    return f"{rest[0].upper()}{rest[1:]} {match['word'].lower()} {match['clause']}."


def _clause_first(sentence: str) -> str:
    """ "B when A." becomes "When A, B." """
    match = re.fullmatch(
        r"(?P<rest>[^,;:]{12,}?),? (?P<word>if|when|after|before|once|by default)(?P<clause>[^,;:]*)\.", sentence
    )
    if not match:
        return sentence
    rest = match["rest"]
    first = rest[0].lower() if rest[1:2].islower() else rest[0]
    return f"{match['word'].capitalize()}{match['clause']}, {first}{rest[1:]}."


def _passive(sentence: str) -> str:
    """ "You can V the X ..." becomes "The X can be V-ed ..." """
    match = re.fullmatch(
        r"You can (?P<verb>[a-z]{3,}) (?P<object>(?:the|a|an|all|your) [^,;:.]+?)"
        r"(?P<rest> (?:by|with|to|in|from|on|at|for|using) .*)?\.",
        sentence,
    )
    if not match:
        return sentence
    verb = match["verb"]
    participle = {"set": "set", "find": "found", "make": "made", "choose": "chosen"}.get(
        verb, f"{verb.removesuffix('e')}ed"
    )
    whole = match["object"]
    return f"{whole[0].upper()}{whole[1:]} can be {participle}{match['rest'] or ''}."


def _active(sentence: str) -> str:
    """ "The X is V-ed by the Y." becomes "The Y V-s the X." """
    match = re.fullmatch(
        r"(?P<object>The [^,;:]{3,60}?) (?:is|are) (?P<verb>[a-z]+)ed by (?P<subject>(?:the|a|an) [^,;:.]+)\.",
        sentence,
    )
    if not match:
        return sentence
    subject, whole = match["subject"], match["object"]
    return f"{subject[0].upper()}{subject[1:]} {match['verb']}es {whole[0].lower()}{whole[1:]}."


_TURNS: Sequence[Callable[[str], str]] = (_clause_last, _clause_first, _passive, _active)
