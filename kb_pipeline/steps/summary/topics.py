"""Name the topics of a document whose author names none: the things that it speaks of again and again, as its title or
a heading calls them.

A topic depends on its document alone, so that another document changes none of them. Only languages with articles have
topics: a word that often follows one is a thing, and not what is done with it.
"""

import re
from collections import Counter
from collections.abc import Iterator

from kb_pipeline.languages import language_of, stem, stop_words
from kb_pipeline.steps.summary.prose import headings, sentences

_MOST = 3
"""Topics that are named: as many as authors give."""
_FEWEST, _FEWEST_OF_TITLE = 3, 2
"""How often a document speaks of a topic at least, and of one that its title names."""
_SHORTEST = 3
"""Letters of a word that can be a topic; shorter ones stand for many things."""
_SHARE = 0.5
"""Share of the times that a word is spoken of from which it stands for two words: "canned response", not "response"."""
_ARTICLES = {
    "en": "a an the this each your of",
    "de": "der die das dem den des ein eine einen einem einer eines",
    "fr": "le la les un une des du au",
    "es": "el la los las un una del al",
    "it": "il lo la i gli le un una del della",
    "nl": "de het een",
    "pt": "o a os as um uma do da",
}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

_Stems = tuple[str, ...]


def topics_of(markdown: str, title: str) -> tuple[str, ...]:
    """Return the topics of a document, at most three, the one that it speaks of most first."""
    text = " ".join(sentence.text for sentence in sentences(markdown))
    language = language_of(text)
    if language not in _ARTICLES:
        return ()
    called = {stem(word.lower(), language) for name in (title, *headings(markdown)) for word in _WORD.findall(name)}
    in_title = {stem(word.lower(), language) for word in _WORD.findall(title)}
    forms: dict[_Stems, Counter[str]] = {}
    for form in _things(text, language):
        stems = tuple(stem(word.lower(), language) for word in form.split())
        if called.issuperset(stems):
            forms.setdefault(stems, Counter())[form] += 1
    counts = {
        stems: of_each.total()
        for stems, of_each in forms.items()
        if of_each.total() >= (_FEWEST_OF_TITLE if in_title.issuperset(stems) else _FEWEST)
    }
    longer = {one: stems for stems in counts if len(stems) > 1 for one in stems if _is_most(stems, one, counts)}
    ranked = sorted(
        (stems for stems in counts if len(stems) > 1 or stems[0] not in longer),
        key=lambda stems: (-counts[stems] * (2 if in_title.issuperset(stems) else 1), stems),
    )
    return tuple(_name(forms[stems], language) for stems in ranked[:_MOST])


def _is_most(stems: _Stems, one: str, counts: dict[_Stems, int]) -> bool:
    return counts[stems] >= _SHARE * counts.get((one,), 0)


def _things(text: str, language: str) -> Iterator[str]:
    """Yield what follows an article: a word, and two words if both say something."""
    stopped, articles = stop_words(language), set(_ARTICLES[language].split())
    words = list(_WORD.finditer(text))
    for at in range(1, len(words)):
        if words[at - 1][0].lower() not in articles or not _says(words[at], stopped):
            continue
        if words[at].start() - words[at - 1].end() > 1:
            continue
        following = words[at + 1] if at + 1 < len(words) else None
        if following and following.start() == words[at].end() + 1 and _says(following, stopped):
            yield f"{words[at][0]} {following[0]}"
            if language != "de" or following[0][0].isupper():
                yield following[0]
        if language != "de" or words[at][0][0].isupper():
            yield words[at][0]


def _says(word: re.Match[str], stopped: frozenset[str]) -> bool:
    return len(word[0]) >= _SHORTEST and word[0].lower() not in stopped


def _name(forms: Counter[str], language: str) -> str:
    """The shortest form, in small letters unless the language writes things with capitals, or it is a name."""
    form = min(forms, key=lambda each: (len(each), -forms[each], each))
    if language == "de":
        return form
    return " ".join(word if word[1:] != word[1:].lower() else word.lower() for word in form.split())
