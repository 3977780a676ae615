"""What a question asks for: its words with their weights, and whether it wants to be told how something is done."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.grounding.words import Weights, words

_BORROWED = 0.5
_HOW = re.compile(
    r"\b(?:how(?!\s+(?:many|much|long|often|large|big|far|old|come)\b)|steps?|instructions?|procedure"
    r"|wie(?!\s+(?:viele?|lange|oft|groß|weit|alt)\b))\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:what|which|who|whose|whom|why|when|where|how|is|are|was|were|does|did|has|have|will"
    r"|was|welche[rsmn]?|wer|warum|wann|wo|ist|sind|hat|gibt)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question and how much each counts (1: of this question; less: of one before).

    ``how``: a procedure may answer it, by what its headings say rather than its steps.
    """

    words: Mapping[str, float]
    how: bool = False

    def worth(self, weights: Weights) -> dict[str, float]:
        """What each word is worth among some texts, as a share of all."""
        worth = {word: share * weights.of(word) for word, share in self.words.items()}
        everything = sum(worth.values()) or 1.0
        return {word: value / everything for word, value in worth.items()}


def asked(query: str) -> Asked:
    """What a search query asks for: its first line is the question, the others are what it was borrowed from."""
    own, *borrowed = query.split("\n")
    weights = dict.fromkeys(words("\n".join(borrowed)), _BORROWED) | dict.fromkeys(words(own), 1.0)
    return Asked(weights, how=bool(_HOW.search(own)) or not _OTHERWISE.search(own))
