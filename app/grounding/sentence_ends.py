"""Where a sentence ends: a rule-based splitter that would rather join two sentences than cut one.

Here: one paragraph of markdown, in and out as positions. Not here: lists, tables and what else a passage is made of.
"""

import re
from collections.abc import Iterator

_END = re.compile(r"(?:[.!?]++|…|[。！？]++)[\"'”’»)\]*_]*+")
_GAP = re.compile(r"(?:[^\S\n]|\n[ \t>]*+)++")
_ABBREVIATIONS = frozenset(
    "e.g i.e vs cf ca approx incl excl resp ref refs dr mr mrs ms prof st min max z.b d.h u.a bzw ggf evtl vgl".split()
)
_BEFORE_NUMBERS = frozenset("no nos fig figs vol ch sec sect eq p pp nr abb kap ver".split())
_LAST_WORD = re.compile(r"(?:^|[\s(\[*_\"'“‘])([^\s(\[*_\"'“‘]*)$")
_NUMBERING = re.compile(
    r"[\s>*_#]*(?:(?:Figure|Table|Example|Listing|Chapter|Section|Appendix|Step|Abbildung|Tabelle|Schritt) )?"
    r"(?:\d+\.)*\d*[.)]?[\s*_]*|[\s>*_]*[A-Za-z][.)]"
)
_UNCUT = re.compile(
    r"`[^`\n]++`"  # code
    r"|!?\[(?:[^\[\]\\]|\\.)*+\]\((?:[^()\s]|\([^()\s]*+\))*+(?:\s\"[^\"\n]*+\")?\)"  # a link or an image
    r"|\*\*(?:[^*\n\\]|\\.)++\*\*|(?<![\w*])\*(?:[^*\s\\]|\\.)(?:[^*\n\\]|\\.)*+\*(?![\w*])"  # emphasis
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence; together they hold all of the paragraph but the white space between them.

    Whole stay: abbreviations, initials and versions ("e.g. GIMP 2.10"), file names, links, code and emphasised words,
    and menu entries that end in an ellipsis ("File > Save As... opens").
    """
    uncut = [match.span() for match in _UNCUT.finditer(text)]
    start = done = 0
    for end in _END.finditer(text):
        gap = _GAP.match(text, end.end())
        if not gap and end[0][0] not in "。！？":
            continue
        while done < len(uncut) and uncut[done][1] <= end.start():
            done += 1
        inside = done < len(uncut) and uncut[done][0] < end.start() and end.end() < uncut[done][1]
        following = gap.end() if gap else end.end()
        if not inside and following < len(text) and _ends_sentence(text, start, end, following):
            yield start, end.end()
            start = following
    if text[start:].strip():
        yield start, len(text.rstrip())


def _ends_sentence(text: str, start: int, end: re.Match[str], following: int) -> bool:
    sign = end[0][0]
    if sign in "。！？":
        return True
    before = text[max(start, end.start() - 40) : end.start()]
    if end[0].startswith(("...", "…")):
        return _starts_sentence(text, following) and not _ends_in_label(before)
    if sign in "!?":
        return _starts_sentence(text, following)
    if _NUMBERING.fullmatch(text, start, end.end()):
        return False
    last = _LAST_WORD.search(before)
    word = last[1] if last else before
    abbreviated = word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())
    numbered = word.lower() in _BEFORE_NUMBERS and text[following].isdigit()
    return not abbreviated and not numbered and _starts_sentence(text, following)


def _ends_in_label(before: str) -> bool:
    """Whether an ellipsis follows a capitalised word, as in the names of menu entries."""
    word = re.split(r"[\s>→*_“\"]+", before)[-1]
    return word[:1].isupper()


def _starts_sentence(text: str, at: int) -> bool:
    """Whether what follows can be the beginning of a sentence: no small letter, no closing sign."""
    for sign in text[at : at + 8]:
        if sign.isalnum():
            return not sign.islower()
        if sign in ">→,;:)-–—":
            return False
    return True
