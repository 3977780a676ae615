"""The question in a pasted mail: without its head, greeting, signature, and what it quotes.

What a head, a quotation and a name below the text are follows from their form; only greetings and closings are known by
their words (English, German, French, Spanish). Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST_QUESTION = 400
"""Characters of a message that is questions; a longer one is a pasted mail or a story."""
_MANY_LINES = 3
"""Lines of a message that is a pasted mail; two are a question and a detail."""
_CONTEXT = 600
"""Characters of what stands around the questions of a pasted mail."""
_TELLING = 4
"""Words that say what is asked; with fewer ("Any news?", "See below.") the message below is meant."""

GREETING = (
    r"(?:hi|hello|hey|dear|good (?:morning|day|afternoon|evening)|hallo|moin|servus|grüß gott"
    r"|guten (?:tag|morgen|abend)|sehr geehrte[rs]?|liebe[rs]?|bonjour|bonsoir|salut|chère?s?|hola"
    r"|buen[oa]s (?:días|tardes)|estimad[oa]s?)"
)
"""How a message begins that speaks to somebody."""
_GREETS = re.compile(rf"\W*{GREETING}\b[^,.!?:;\n]{{0,40}}(?:[,.!:;]+\s*|$)", re.IGNORECASE)
_ADDRESSES = re.compile(r"[^\W\d_][^,.!?:;\d]{0,38}[,!]$")
"""A first line that only speaks to somebody, in any language: a few words and a comma."""
_CLOSES = re.compile(
    r"(?:--|(?:best|kind|warm|many)?\s*(?:regards|wishes)|yours|sincerely|thanks(?: and regards)?,?$|cheers"
    r"|(?:mit )?(?:freundliche|viele|beste|liebe)n? grüße|cordialement|saludos)",
    re.IGNORECASE,
)
_SIGNED = 4
"""Words of a line of a signature: a name, a role, a number to call."""
_SENTENCE = re.compile(r"(?<=[.!?。！？؟])\s+|\n\s*\n")
_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "؟")
ASKS = ("?", "？", "؟")
"""Signs that end a question."""
_WORD = re.compile(r"\w+")

_FIELD = re.compile(r"\W*[^\W\d_][\w -]{0,20}[:：]\W*\s\S")
_HAS_ADDRESS = re.compile(r"\S@\S")
_HAS_TIME = re.compile(r"(?=.*\b(?:19|20)\d\d\b).*\b\d{1,2}[:.h]\d\d\b")
_RULE = re.compile(r"\W*[-_=*]{3,}")
_RULED = 6
"""Words that may stand in a line that separates: "Original message"."""
_QUOTED = re.compile(r"\s*(?:>\s?)+")


@dataclass
class _Part:
    """Lines that one person wrote; ``is_quoted``: they are marked as somebody else's."""

    is_quoted: bool = False
    lines: list[str] = field(default_factory=list)


def is_pasted(text: str) -> bool:
    """Whether a message is a pasted mail, or tells a story: it is long, or of several lines."""
    return len(text) > LONGEST_QUESTION or sum(bool(line.strip()) for line in text.splitlines()) >= _MANY_LINES


def asked_in(text: str) -> str:
    """What to search for: of a pasted mail its questions, then, on a line of its own, what stands around them.

    Of a mail that quotes or forwards others, those of the first message that asks something. A short message is
    searched for as it is.
    """
    if not is_pasted(text):
        return text
    questions, around = _said(text)
    return "\n".join(filter(None, (" ".join(questions), " ".join(around)[:_CONTEXT].strip()))) or text


def questions_of(text: str) -> list[str]:
    """The sentences of a pasted mail that ask something, without what it quotes."""
    return _said(text)[0]


def question_of(text: str) -> str:
    """The question of a message in one line, without greeting: of a pasted mail its questions, else what it says."""
    if not is_pasted(text):
        line = " ".join(text.split())
        return _GREETS.sub("", line, count=1) or line
    questions, around = _said(text)
    return " ".join(questions or around)[:_CONTEXT].strip() or " ".join(text.split())[:_CONTEXT]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return [" ".join(each.split()) for each in _SENTENCE.split(text) if each.strip()]


def _said(text: str) -> tuple[list[str], list[str]]:
    """The questions of a pasted mail, and its other sentences."""
    said = [_asked(_own_lines(part.lines)) for part in sorted(_parts(text), key=lambda part: part.is_quoted)]
    by_questions = (each for each in said if _words(each[0]) >= _TELLING)
    by_words = (each for each in said if _words(each[0] + each[1]) >= _TELLING)
    return next(by_questions, None) or next(by_words, None) or next(filter(any, said), ([], []))


def _words(sentences: Sequence[str]) -> int:
    return len(_WORD.findall(" ".join(sentences)))


def _asked(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    sentences = sentences_of("\n".join(lines))
    questions = [each for each in sentences if each.endswith(ASKS)]
    return questions, [each for each in sentences if each not in questions]


def _parts(text: str) -> Iterator[_Part]:
    """The messages in a text, without the lines that say whose each is."""
    part = _Part()
    lines = text.strip().splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        quoted = _QUOTED.match(line)
        head = _head(lines[at:])
        is_between = head > 0 or _leads_to_quoted(lines[at:])
        if is_between or bool(quoted) != part.is_quoted:
            yield part
            part = _Part(is_quoted=bool(quoted))
        if not is_between:
            part.lines.append(line[quoted.end() :] if quoted else line)
        at += max(1, head)
    yield part


def _head(lines: Sequence[str]) -> int:
    """How many of the first lines are the head of a mail, or a rule above one: "From: … Sent: …"; 0 if none is."""
    if _RULE.match(lines[0]) and len(_WORD.findall(lines[0])) <= _RULED:
        return 1
    fields = 0
    while fields < len(lines) and _FIELD.match(lines[fields]):
        fields += 1
    is_head = fields > 1 and any(_HAS_ADDRESS.search(line) or _HAS_TIME.match(line) for line in lines[:fields])
    return fields if is_head else 0


def _leads_to_quoted(lines: Sequence[str]) -> bool:
    """Whether the first line only says who wrote what follows: it ends with a colon, with an address or above ``>``."""
    if not lines[0].rstrip().endswith((":", "：")):
        return False
    below = next((line for line in lines[1:] if line.strip()), "")
    return bool(_QUOTED.match(below) or _HAS_ADDRESS.search(lines[0]))


def _own_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a message without greeting, closing and signature."""
    told = [line.strip() for line in lines]
    while told and not told[0]:
        del told[0]
    if told and not told[0].endswith(ASKS):
        told[0] = "" if _ADDRESSES.match(told[0]) else _GREETS.sub("", told[0], count=1)
    end = next((at for at, line in enumerate(told) if at and _CLOSES.match(line)), len(told))
    del told[end:]
    whole = len(told)
    while whole and not told[whole - 1].endswith(_ENDS) and len(_WORD.findall(told[whole - 1])) <= _SIGNED:
        whole -= 1
    return told[:whole] or told
