"""Ways to the same end: the keys that are held with a key, and the menu before an entry.

Their words alone tell little: "Ctrl+Y" has no word that "Ctrl+Shift+Y" lacks, and does something else.
"""

import re
from collections.abc import Collection, Iterator

Way = tuple[str, str]
"""What is held or opened before, and the key or entry."""

_SYNONYMS = {"control": "ctrl", "strg": "ctrl", "umschalt": "shift", "command": "cmd", "option": "alt"}
_HELD = r"(?:ctrl|control|strg|shift|umschalt|alt|altgr|option|cmd|command|meta|super|win|fn)"
_KEYS = re.compile(rf"(?<![\w+-]){_HELD}(?:[ \t]?\+[ \t]?\w{{1,20}}|-\w{{1,20}}){{1,5}}(?![\w+])", re.IGNORECASE)
_MOUSE = frozenset("click clicking drag dragging scroll mouse wheel klick klicken ziehen".split())
"""What is done with the mouse is often said in other words: "hold Ctrl and click"."""
_PATH = re.compile(
    r"(?P<before>[^\W_]{1,60})[.…]{0,3}[ \t]{0,3}(?:→|⇒|➔|⟶|▸|▶|‣|›|»|-?\\?>)[ \t]{0,3}(?=(?P<after>[^\W_]{1,60}))"
)
_EMPHASIS = re.compile(r"[*_`\"“”„]|\[(?=[^\]\n]{1,80}\]\()|\]\([^()\s]{0,400}\)")


def ways_in(text: str) -> Iterator[Way]:
    """The key combinations of a markdown text, and each step of its menu paths by the words around the arrow."""
    text = _EMPHASIS.sub("", text)
    for keys in _KEYS.finditer(text):
        *held, key = (_SYNONYMS.get(each, each) for each in re.findall(r"\w+", keys[0].lower()))
        if key not in _MOUSE:
            yield "+".join(sorted(set(held))), key
    for step in _PATH.finditer(text):
        yield step["before"].lower(), step["after"].lower()


def leads_elsewhere(said: Collection[Way], known: Collection[Way]) -> bool:
    """Whether one of the ways is none of those that are known to the same key or entry, or from the same menu."""
    starts, ends = ({way[at] for way in known} for at in (0, 1))
    return any(way not in known and (way[0] in starts or way[1] in ends) for way in said)
